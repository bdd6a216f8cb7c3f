(* A fill by batches (PROOF.md, lemma 5), to be read beside silent.h and silent.c. A batch of m attempts is columns of
   bytes, then words of f', which the attempts that need one take in their order; those that find none left read one behind
   the batch. The draws are the accepted attempts in order. How many attempts a batch has, and how many of them are used at
   most (to the end of a piece), depends on how many draws are missing; what a batch has beyond that is dropped.

   Proven, for any such sizes, any number of columns and words: it is as if each attempt read its own bytes, one attempt
   after the other; and the draws are independent, each with the law of `again` of an attempt. *)
From Coq Require Import Reals Lra Lia ZArith List Bool Arith.
From Coquelicot Require Import Coquelicot.
From DG.exact Require Import programs laws fills.
Import ListNotations.
Open Scope R_scope.

Ltac unit := solve [assumption | apply unit_one | apply unit_none | apply unit_some; unit
  | intros ?; cbv beta; first [match goal with H : unit_f ?f |- 0 <= ?f _ <= 1 => apply H end | apply E_unit; unit]].

(* ---- columns ---- *)
Section Columns.
  Context {A B C : Type}.
  Variables (f : A -> tree B) (g : B -> tree C).

  (* the first reads of all, then the second ones, or one after the other *)
  Lemma each_then l : forall F, unit_f F -> E (each f l) (fun bs => E (each g bs) F) = E (each (fun a => bind (f a) g) l) F.
  Proof.
    induction l as [|a l IH]; intros F HF; cbn [each]; [rewrite !E_Ret; cbn [each]; now rewrite E_Ret|].
    rewrite !E_bind by unit. apply E_ext. intros b. rewrite E_bind by unit.
    rewrite (E_ext (each f l) _ (fun bs => E (g b) (fun c => E (each g bs) (fun cs => F (c :: cs))))).
    - rewrite E_swap by (intros bs c; apply E_unit; intros cs; apply HF).
      apply E_ext. intros c. rewrite IH by (intros cs; apply HF). rewrite E_bind by exact HF.
      apply E_ext. intros cs. now rewrite E_Ret.
    - intros bs. rewrite E_Ret. cbn [each]. rewrite E_bind by exact HF. apply E_ext. intros c.
      rewrite E_bind by exact HF. apply E_ext. intros cs. now rewrite E_Ret.
  Qed.
End Columns.

Lemma each_ends {A B} (f : A -> tree B) l : (forall a, E (f a) (fun _ => 1) = 1) -> E (each f l) (fun _ => 1) = 1.
Proof.
  intros H. induction l as [|a l IH]; cbn [each]; [now rewrite E_Ret|].
  apply bind_ends; [apply H|]. intros b. apply bind_ends; [exact IH|]. intros bs. now rewrite E_Ret.
Qed.

(* the bytes of an attempt, the last one first *)
Definition add_byte (bytes : list Z) : tree (list Z) := bind (number 8) (fun b => Ret (b :: bytes)).
Fixpoint one_column (n : nat) (bytes : list Z) : tree (list Z) :=
  match n with O => Ret bytes | S n => bind (add_byte bytes) (one_column n) end.
Fixpoint columns (n : nat) (l : list (list Z)) : tree (list (list Z)) :=
  match n with O => Ret l | S n => bind (each add_byte l) (columns n) end.
Lemma columns_law n : forall l F, unit_f F -> E (columns n l) F = E (each (one_column n) l) F.
Proof.
  induction n as [|n IH]; intros l F HF; cbn [columns one_column].
  - rewrite E_Ret. revert F HF. induction l as [|a l IHl]; intros F HF; cbn [each]; [now rewrite E_Ret|].
    rewrite !E_bind by unit. rewrite E_Ret, E_bind by unit. rewrite <- IHl by unit. now rewrite E_Ret.
  - rewrite E_bind by exact HF. rewrite (E_ext _ _ (fun bs => E (each (one_column n) bs) F)) by (intros; now apply IH).
    now rewrite each_then.
Qed.
Lemma one_column_ends n : forall bytes, E (one_column n bytes) (fun _ => 1) = 1.
Proof.
  induction n as [|n IH]; intros bytes; cbn [one_column]; [now rewrite E_Ret|]. apply bind_ends; [|apply IH].
  apply bind_ends; [apply number_ends|]. intros b. now rewrite E_Ret.
Qed.

(* ---- words of f' that are read before it is known which attempts need one ---- *)
Section Words.
  Context {A : Type}.
  Variable look : A -> option Z + (Z -> tree (option Z)).     (* the result, or what it is given a word *)

  Definition take_word (words : list Z) : tree (Z * list Z) :=
    match words with
    | word :: words => Ret (word, words)
    | [] => bind (number 64) (fun word => Ret (word, []))
    end.
  Fixpoint settle (words : list Z) (l : list A) : tree (list (option Z)) :=
    match l with
    | [] => Ret []
    | a :: l =>
        match look a with
        | inl o => bind (settle words l) (fun os => Ret (o :: os))
        | inr ask => bind (take_word words) (fun taken =>
            bind (ask (fst taken)) (fun o => bind (settle (snd taken) l) (fun os => Ret (o :: os))))
        end
    end.
  (* each reads its own word *)
  Definition alone (a : A) : tree (option Z) := match look a with inl o => Ret o | inr ask => bind (number 64) ask end.
  Fixpoint words (k : nat) : tree (list Z) :=
    match k with O => Ret [] | S k => bind (number 64) (fun word => bind (words k) (fun ws => Ret (word :: ws))) end.

  Lemma words_end k : E (words k) (fun _ => 1) = 1.
  Proof.
    induction k as [|k IH]; cbn [words]; [now rewrite E_Ret|]. apply bind_ends; [apply number_ends|]. intros word.
    apply bind_ends; [exact IH|]. intros ws. now rewrite E_Ret.
  Qed.

  Lemma E_words k F : unit_f F -> E (words (S k)) F = E (number 64) (fun word => E (words k) (fun ws => F (word :: ws))).
  Proof.
    intros HF. cbn [words]. rewrite E_bind by exact HF. apply E_ext. intros word. rewrite E_bind by exact HF.
    apply E_ext. intros ws. now rewrite E_Ret.
  Qed.

  Theorem words_law l : forall k F, unit_f F -> E (words k) (fun ws => E (settle ws l) F) = E (each alone l) F.
  Proof.
    induction l as [|a l IH]; intros k F HF.
    - cbn [settle each]. rewrite (E_ext _ _ (fun _ => F [])) by (intros; now rewrite E_Ret).
      rewrite E_Ret. apply E_const; [apply HF | apply words_end].
    - cbn [settle each]. unfold alone at 1. destruct (look a) as [o|ask].
      + rewrite (E_ext _ _ (fun ws => E (settle ws l) (fun os => F (o :: os)))).
        * rewrite IH by unit. rewrite E_bind by unit. rewrite E_Ret, E_bind by unit. apply E_ext. intros os. now rewrite E_Ret.
        * intros ws. rewrite E_bind by unit. apply E_ext. intros os. now rewrite E_Ret.
      + assert (Hrest : forall word ws', E (bind (ask word) (fun o => bind (settle ws' l) (fun os => Ret (o :: os)))) F =
          E (ask word) (fun o => E (settle ws' l) (fun os => F (o :: os)))).
        { intros word ws'. rewrite E_bind by unit. apply E_ext. intros o. rewrite E_bind by unit. apply E_ext. intros os. now rewrite E_Ret. }
        transitivity (E (number 64) (fun word => E (ask word) (fun o => E (each alone l) (fun os => F (o :: os))))).
        * destruct k as [|k].
          -- cbn [words]. rewrite E_Ret. cbn [take_word]. rewrite E_bind by unit. rewrite E_bind by unit.
             apply E_ext. intros word. rewrite E_Ret. cbn [fst snd]. rewrite Hrest. apply E_ext. intros o.
             rewrite <- (IH O) by unit. cbn [words]. now rewrite E_Ret.
          -- rewrite E_words by unit. apply E_ext. intros word.
             rewrite (E_ext _ _ (fun ws => E (ask word) (fun o => E (settle ws l) (fun os => F (o :: os))))).
             ++ rewrite E_swap by (intros ws o; apply E_unit; unit). apply E_ext. intros o. apply IH. unit.
             ++ intros ws. cbn [take_word]. rewrite E_bind by unit. rewrite E_Ret. cbn [fst snd]. apply Hrest.
        * rewrite !E_bind by unit. apply E_ext. intros word. apply E_ext. intros o. rewrite E_bind by unit.
          apply E_ext. intros os. now rewrite E_Ret.
  Qed.
End Words.

(* ---- a batch, and a fill ---- *)
Fixpoint accepted (os : list (option Z)) : list Z :=
  match os with [] => [] | Some y :: os => y :: accepted os | None :: os => accepted os end.

Section Fill.
  Variables (n_columns n_words : nat).
  Variable look : list Z -> option Z + (Z -> tree (option Z)).
  Variables size limit : nat -> nat.              (* attempts, and draws of the piece, given how many draws are missing *)
  Hypothesis sizes : forall missing, (0 < missing -> 0 < size missing /\ 0 < limit missing <= missing)%nat.

  Definition attempt : tree (option Z) := bind (one_column n_columns []) (alone look).
  Definition batch (m : nat) : tree (list (option Z)) :=
    bind (columns n_columns (repeat [] m)) (fun l => bind (words n_words) (fun ws => settle look ws l)).
  Definition fill_step (s : list Z * nat) : tree (list Z * nat + list Z) :=
    let '(done, missing) := s in
    match missing with
    | O => Ret (inr done)
    | _ => bind (batch (size missing)) (fun os =>
        let used := firstn (limit missing) (accepted os) in Ret (inl (done ++ used, (missing - length used)%nat)))
    end.
  Definition fill (n : nat) : tree (list Z) := loop fill_step ([], n).

  Theorem batch_law m F : unit_f F -> E (batch m) F = E (each (fun _ : unit => attempt) (repeat tt m)) F.
  Proof.
    intros HF. unfold batch. rewrite E_bind by exact HF.
    rewrite (E_ext _ _ (fun l => E (each (alone look) l) F)).
    - rewrite columns_law by unit. rewrite each_then by exact HF. clear sizes. revert F HF.
      induction m as [|m IH]; intros F HF; [reflexivity|]. cbn [repeat each]. rewrite !E_bind with (f := F) by unit.
      apply E_ext. intros o. rewrite !E_bind with (f := F) by unit. apply IH. unit.
    - intros l. rewrite E_bind by exact HF. now apply words_law.
  Qed.

  Hypothesis ends : E attempt (fun _ => 1) = 1.
  Hypothesis succeeds : 0 < E attempt (some (fun _ => 1)).
  Let draw := again attempt.
  Let q : R := E attempt none.

  Lemma q_is : 0 <= q < 1.
  Proof.
    split; [apply E_unit, unit_none|]. pose proof ends as H. unfold q.
    rewrite (E_ext attempt (fun _ => 1) (fun o => 1 * some (fun _ => 1) o + 1 * none o)) in H by (intros [a|]; simpl; ring).
    rewrite E_lin in H by (apply unit_some, unit_one || apply unit_none). lra.
  Qed.

  (* what is wanted of the draws that are missing *)
  Fixpoint wanted (fs : list (Z -> R)) : R := match fs with [] => 1 | f :: fs => E draw f * wanted fs end.
  Lemma wanted_unit fs : units fs -> 0 <= wanted fs <= 1.
  Proof. induction fs as [|f fs IH]; intros Hu; cbn [wanted]; [lra|]. apply units_cons in Hu as [Hf Hu]. specialize (IH Hu). pose proof (E_unit draw f Hf). nra. Qed.

  Lemma wanted_app fs gs : wanted (fs ++ gs) = wanted fs * wanted gs.
  Proof. induction fs as [|f fs IH]; cbn [app wanted]; [ring|]. rewrite IH. ring. Qed.

  (* the share of accepted values and what is wanted of the others; e stands for it if none is accepted *)
  Fixpoint worth (e : R) (fs : list (Z -> R)) (ys : list Z) : R :=
    match fs, ys with [], _ => 1 | _, [] => e | f :: fs, y :: ys => f y * worth (wanted fs) fs ys end.
  Lemma worth_unit fs : units fs -> forall e ys, 0 <= e <= 1 -> 0 <= worth e fs ys <= 1.
  Proof.
    induction fs as [|f fs IH]; intros Hu e [|y ys] He; cbn [worth]; try lra.
    apply units_cons in Hu as [Hf Hu]. pose proof (IH Hu (wanted fs) ys (wanted_unit fs Hu)). specialize (Hf y). nra.
  Qed.

  Lemma turn f x : unit_f f -> E attempt (fun o => match o with Some y => f y * x | None => E draw f * x end) = E draw f * x.
  Proof.
    intros Hf. set (d := E draw f).
    assert (Hd : d = E attempt (some f) + d * q).
    { unfold d at 1, draw. rewrite again_once by exact Hf. fold draw d.
      rewrite (E_ext attempt _ (fun o => 1 * some f o + d * none o)) by (intros [a|]; simpl; ring).
      rewrite E_lin by (now apply unit_some || apply unit_none). unfold q. ring. }
    rewrite (E_ext attempt _ (fun o => x * some f o + (d * x) * none o)) by (intros [a|]; simpl; ring).
    rewrite E_lin by (now apply unit_some || apply unit_none). fold q. rewrite Hd at 2. ring_simplify.
    replace (E attempt (some f)) with (d - d * q) by lra. ring.
  Qed.

  Let attempts (m : nat) := each (fun _ : unit => attempt) (repeat tt m).
  Lemma E_attempts m F : unit_f F -> E (attempts (S m)) F = E attempt (fun o => E (attempts m) (fun os => F (o :: os))).
  Proof.
    intros HF. unfold attempts. cbn [repeat each]. rewrite E_bind by exact HF. apply E_ext. intros o. rewrite E_bind by exact HF.
    apply E_ext. intros os. now rewrite E_Ret.
  Qed.

  (* the expectation of what is wanted stays as it is, whatever e says of batches without any accepted attempt *)
  Lemma batch_worth m : forall fs e, units fs -> fs <> [] -> 0 <= e <= 1 ->
    E (attempts m) (fun os => worth e fs (accepted os)) = wanted fs + q ^ m * (e - wanted fs).
  Proof.
    assert (Hall : E (attempts 0) (fun _ => 1) = 1) by (unfold attempts; cbn; now rewrite E_Ret).
    induction m as [|m IH]; intros [|f fs] e Hu Hne He; try congruence.
    - unfold attempts. cbn [repeat each accepted worth pow]. rewrite E_Ret. cbn [accepted worth]. ring.
    - pose proof (worth_unit (f :: fs) Hu) as Hw. rewrite E_attempts by (intros os; now apply Hw).
      apply units_cons in Hu as [Hf Hu]. pose proof (wanted_unit fs Hu) as Hwant.
      pose proof (wanted_unit (f :: fs) ltac:(intros h [<-|Hh]; auto)) as Hwant'.
      assert (Hm : E (attempts m) (fun _ => 1) = 1) by (apply each_ends; intros _; exact ends).
      set (x := wanted fs) in *. set (e' := wanted (f :: fs) + q ^ m * (e - wanted (f :: fs))).
      rewrite (E_ext attempt _ (fun o => x * some f o + e' * none o)).
      + rewrite E_lin by (now apply unit_some || apply unit_none). fold q. unfold e'. cbn [pow].
        pose proof (turn f 1 Hf) as Ht. rewrite (E_ext attempt _ (fun o => 1 * some f o + E draw f * none o)) in Ht by (intros [a|]; simpl; ring).
        rewrite E_lin in Ht by (now apply unit_some || apply unit_none). fold q in Ht. cbn [wanted]. fold x.
        replace (E attempt (some f)) with (E draw f - E draw f * q) by lra. ring.
      + intros [y|]; cbn [accepted worth some none].
        * fold x. rewrite E_scal by (intros os; apply worth_unit; assumption).
          destruct fs as [|f' fs]; [cbn [worth]; rewrite Hm; unfold x; cbn [wanted]; ring|].
          rewrite IH by (congruence || assumption). fold x. ring.
        * change (E (attempts m) (fun os => worth e (f :: fs) (accepted os)) = x * 0 + e' * 1).
          rewrite IH by (congruence || assumption || (intros h [<-|Hh]; auto)). unfold e'. ring.
  Qed.

  Lemma product_done (fs gs : list (Z -> R)) a b : length fs = length a -> product (fs ++ gs) (a ++ b) = product fs a * product gs b.
  Proof.
    revert a. induction fs as [|f fs IH]; intros [|y a] H; cbn [length app product] in *; try discriminate; [ring|].
    rewrite IH by congruence. ring.
  Qed.

  Lemma units_parts (fs gs : list (Z -> R)) k : units fs -> units gs -> units (fs ++ firstn k gs) /\ units (skipn k gs).
  Proof.
    intros Hf Hg. split; intros h Hh; [apply in_app_iff in Hh as [Hh|Hh]; [now apply Hf|]|]; apply Hg; rewrite <- (firstn_skipn k gs), in_app_iff; auto.
  Qed.

  Lemma worth_is gs : forall ys, let used := firstn (length gs) ys in
    product (firstn (length used) gs) used * wanted (skipn (length used) gs) = worth (wanted gs) gs ys.
  Proof.
    induction gs as [|g gs IH]; intros [|y ys]; cbn [length firstn product skipn wanted worth]; try ring.
    rewrite <- IH. ring.
  Qed.

  Definition nobody (os : list (option Z)) : R := match accepted os with [] => 1 | _ => 0 end.
  Lemma unit_nobody : unit_f nobody. Proof. intros os. unfold nobody. destruct accepted; lra. Qed.
  Lemma E_nobody m : E (attempts m) nobody = q ^ m.
  Proof.
    pose (fs := [fun _ : Z => 1]). assert (Hu : units fs) by (intros f [<-|[]]; apply unit_one).
    pose proof (batch_worth m fs 1 Hu ltac:(discriminate) ltac:(lra)) as H1.
    rewrite (E_ext _ _ (fun os => 1 * worth 0 fs (accepted os) + 1 * nobody os)) in H1
      by (intros os; unfold nobody; destruct (accepted os); cbn; ring).
    rewrite E_lin in H1 by (apply unit_nobody || (intros os; apply worth_unit; [exact Hu | lra])).
    rewrite batch_worth in H1 by (exact Hu || discriminate || lra). lra.
  Qed.

  (* a fill that has some draws already *)
  Theorem fill_from n : forall done fs gs, length gs = n -> length fs = length done -> units fs -> units gs ->
    E (loop fill_step (done, n)) (product (fs ++ gs)) = product fs done * wanted gs.
  Proof.
    induction n as [n IH] using (well_founded_induction Wf_nat.lt_wf). intros done fs gs Hn Hd Hf Hg.
    assert (Hu : units (fs ++ gs)) by (intros h Hh; apply in_app_iff in Hh as [Hh|Hh]; auto).
    pose proof (unit_product fs Hf done) as Hc. pose proof (unit_product _ Hu) as Hp. destruct n as [|n].
    - destruct gs; [|discriminate]. rewrite E_loop by exact Hp. cbn [fill_step]. rewrite E_Ret. cbn [go_on wanted].
      rewrite app_nil_r. ring.
    - set (x := E (loop fill_step (done, S n)) (product (fs ++ gs))). set (c := product fs done) in *.
      destruct (sizes (S n) ltac:(lia)) as [Hs Hlimit]. set (here := firstn (limit (S n)) gs). set (later := skipn (limit (S n)) gs).
      assert (Hgs : gs = here ++ later) by (symmetry; apply firstn_skipn).
      assert (Hh : length here = limit (S n)) by (apply firstn_length_le; lia).
      assert (Hne : here <> []) by (intros H0; rewrite H0 in Hh; cbn in Hh; lia).
      assert (Hx : 0 <= x <= 1) by (apply E_unit; exact Hp).
      assert (Hhere : units here /\ units later) by (split; intros h H0; apply Hg; rewrite Hgs, in_app_iff; auto). destruct Hhere as [Hhere Hlater].
      pose proof (wanted_unit later Hlater) as Hwl.
      assert (Hw : unit_f (fun os => worth 0 here (accepted os))) by (intros os; apply worth_unit; [exact Hhere | lra]).
      assert (Hstep : x = E (attempts (size (S n))) (fun os => (c * wanted later) * worth 0 here (accepted os) + x * nobody os)).
      { unfold x at 1. rewrite E_loop by exact Hp. cbn [fill_step]. rewrite E_bind by now apply unit_go_on.
        rewrite batch_law by (apply unit_E; now apply unit_go_on). apply E_ext. intros os. rewrite E_Ret. cbn [go_on].
        unfold nobody. pose proof (worth_is here (accepted os)) as Hv. rewrite Hh in Hv.
        destruct (accepted os) as [|y ys].
        - rewrite firstn_nil. cbn [length]. rewrite app_nil_r, Nat.sub_0_r. fold x. destruct here; [congruence|]. cbn [worth]. ring.
        - set (used := firstn (limit (S n)) (y :: ys)) in *. set (k := length used) in *.
          assert (Hk : (1 <= k <= limit (S n))%nat).
          { split; [|apply firstn_le_length]. unfold k, used. destruct (limit (S n)); [lia|]. cbn [firstn length]. lia. }
          destruct (units_parts fs gs k Hf Hg) as [Hfk Hgk].
          assert (Hfl : length (firstn k gs) = k) by (rewrite firstn_length; lia).
          rewrite <- (firstn_skipn k gs) at 1. rewrite app_assoc.
          rewrite IH; [| lia | rewrite skipn_length; lia | rewrite !app_length, Hfl, Hd; reflexivity | exact Hfk | exact Hgk].
          rewrite product_done by exact Hd. fold c. cbv zeta in Hv. fold k in Hv.
          rewrite Hgs, firstn_app, skipn_app, wanted_app. replace (k - length here)%nat with O by lia. rewrite firstn_O, app_nil_r, skipn_O.
          replace (c * product (firstn k here) used * (wanted (skipn k here) * wanted later))
            with (c * wanted later * (product (firstn k here) used * wanted (skipn k here))) by ring. rewrite Hv.
          destruct here; [congruence|]. cbn [worth]. ring. }
      rewrite E_lin in Hstep by (exact Hw || apply unit_nobody). rewrite E_nobody, batch_worth in Hstep by (exact Hhere || exact Hne || lra).
      pose proof q_is as Hq. destruct (size (S n)) as [|m]; [lia|]. cbn [pow] in Hstep.
      assert (Hqm : 0 <= q ^ m <= 1) by (split; [apply pow_le; lra | rewrite <- (pow1 m); apply pow_incr; lra]).
      rewrite Hgs, wanted_app. apply Rmult_eq_reg_r with (1 - q * q ^ m); [|nra]. lra.
  Qed.

  (* independent draws: the expectation of a product is the product of the expectations *)
  Theorem fill_independent fs : units fs -> E (fill (length fs)) (product fs) = wanted fs.
  Proof.
    intros Hu. pose proof (fill_from (length fs) [] [] fs eq_refl eq_refl ltac:(intros h []) Hu) as H. cbn [app product] in H.
    unfold fill. rewrite H. ring.
  Qed.

  Theorem fill_ends n : E (fill n) (fun l => if Nat.eqb (length l) n then 1 else 0) = 1.
  Proof.
    set (fs := repeat (fun _ : Z => 1) n). assert (Hu : units fs) by (intros f Hf; apply repeat_spec in Hf; subst f; apply unit_one).
    assert (Hn : length fs = n) by apply repeat_length.
    rewrite (E_ext _ _ (product fs)).
    - rewrite <- Hn at 1. rewrite fill_independent by exact Hu. unfold fs. pose proof (again_ends attempt ends succeeds) as He. fold draw in He.
      clear - He. induction n as [|n IH]; cbn [repeat wanted]; [reflexivity|]. rewrite IH, He. ring.
    - intros l. unfold fs. clear. revert l. induction n as [|n IH]; intros [|v l]; cbn [repeat product length Nat.eqb]; try reflexivity.
      rewrite <- IH. ring.
  Qed.

  (* n independent draws, each with the law, and a fill that ends *)
  Theorem batches_law weight : has_law weight draw -> exists total, is_lim_seq (sum_g weight) (Finite total) /\ 0 < total /\
    (forall ys, E (fill (length ys)) (product (map at_z ys)) = fold_right (fun y p => weight y / total * p) 1 ys) /\
    forall n, E (fill n) (fun l => if Nat.eqb (length l) n then 1 else 0) = 1.
  Proof.
    intros (total & L1 & L2 & L3 & _). exists total. repeat split; [exact L1 | exact L2 | | exact fill_ends].
    intros ys. rewrite <- (map_length at_z ys), fill_independent.
    - induction ys as [|y ys IH]; cbn [map wanted fold_right]; [reflexivity|]. now rewrite IH, L3.
    - intros f Hf. apply in_map_iff in Hf as (y & <- & _). apply unit_at_z.
  Qed.
End Fill.
