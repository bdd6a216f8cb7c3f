(* Many draws at a time (csrc/cells/PROOF.md, lemma 24): attempts are made in rounds. A round makes one for each draw that
   has no value yet, batch by batch, and a batch makes them stage by stage: the first stage of all its draws is read
   before the second of any. Draws whose attempt fails get another one in the next round.

   Proven, for every size of a batch: the draws are independent, and each has the law of `again` of a single attempt.
   The expectation of a product of functions, one of each draw, is the product of their expectations. *)
From Coq Require Import Reals Lra Lia List Arith.
From Coquelicot Require Import Coquelicot.
From DG.exact Require Import programs laws.
Import ListNotations.
Open Scope R_scope.

(* ---- the possible results of a program ---- *)
Definition only {A} (t : tree A) (P : A -> Prop) : Prop := forall f, unit_f f -> (forall a, P a -> f a = 0) -> E t f = 0.

Lemma only_Ret {A} (a : A) (P : A -> Prop) : P a -> only (Ret a) P.
Proof. intros H f Hf H0. rewrite E_Ret. auto. Qed.
Lemma only_bind {A B} (t : tree A) (k : A -> tree B) (P : A -> Prop) (Q : B -> Prop) :
  only t P -> (forall a, P a -> only (k a) Q) -> only (bind t k) Q.
Proof. intros Ht Hk f Hf H0. rewrite E_bind by exact Hf. apply Ht; [now apply unit_E|]. intros a Ha. now apply (Hk a Ha). Qed.
Lemma only_any {A} (t : tree A) : only t (fun _ => True).
Proof. intros f Hf H0. rewrite (E_ext t f (fun _ => 0)) by auto. apply E_zero. Qed.

(* impossible results do not matter *)
Lemma E_only {A} (t : tree A) (P : A -> Prop) f g : only t P -> unit_f f -> unit_f g -> (forall a, P a -> f a <= g a) -> E t f <= E t g.
Proof.
  intros Ht Hf Hg H. set (h := fun a => Rmax 0 (f a - g a)).
  assert (Hh : unit_f h). { intros a. unfold h, Rmax. pose proof (Hf a). pose proof (Hg a). destruct Rle_dec; lra. }
  assert (H0 : E t h = 0). { apply Ht; [exact Hh|]. intros a Ha. unfold h. apply Rmax_left. specialize (H a Ha). lra. }
  assert (H1 : E t (fun a => / 2 * f a + 0 * 0) <= E t (fun a => / 2 * g a + / 2 * h a)).
  { apply E_mono.
    - intros a. pose proof (Hf a). lra.
    - intros a. pose proof (Hg a). pose proof (Hh a). lra.
    - intros a. unfold h. pose proof (Rmax_r 0 (f a - g a)). lra. }
  rewrite (E_lin t f (fun _ => 0)) in H1 by (exact Hf || apply unit_zero). rewrite (E_lin t g h) in H1 by assumption.
  rewrite H0 in H1. lra.
Qed.
Lemma E_only_ext {A} (t : tree A) (P : A -> Prop) f g : only t P -> unit_f f -> unit_f g -> (forall a, P a -> f a = g a) -> E t f = E t g.
Proof. intros Ht Hf Hg H. apply Rle_antisym; apply (E_only t P); try assumption; intros a Ha; rewrite (H a Ha); lra. Qed.

(* ---- a program for each item of a list, one after the other ---- *)
Fixpoint each {A B} (f : A -> tree B) (l : list A) : tree (list B) :=
  match l with
  | [] => Ret []
  | a :: l => bind (f a) (fun b => bind (each f l) (fun bs => Ret (b :: bs)))
  end.

(* one function for each place; 0 if the list has another length *)
Fixpoint product {A} (fs : list (A -> R)) (l : list A) : R :=
  match fs, l with
  | [], [] => 1
  | f :: fs, a :: l => f a * product fs l
  | _, _ => 0
  end.
Definition units {A} (fs : list (A -> R)) := forall f, In f fs -> unit_f f.

Lemma units_cons {A} (f : A -> R) fs : units (f :: fs) -> unit_f f /\ units fs.
Proof. intros H. split; [apply H; now left | intros h Hh; apply H; now right]. Qed.

Lemma unit_product {A} (fs : list (A -> R)) : units fs -> unit_f (product fs).
Proof.
  induction fs as [|f fs IH]; intros Hu [|a l]; cbn [product]; try lra.
  apply units_cons in Hu as [Hf Hfs]. specialize (IH Hfs l). specialize (Hf a). nra.
Qed.

Lemma product_lengths {A} (fs : list (A -> R)) : forall l, length fs <> length l -> product fs l = 0.
Proof.
  induction fs as [|f fs IH]; intros [|a l] H; cbn [product length] in *; try lra; [lia|].
  rewrite IH by lia. ring.
Qed.

Lemma product_ext {A B} (F G : (A -> R) -> B -> R) fs : (forall f b, In f fs -> F f b = G f b) ->
  forall l, product (map F fs) l = product (map G fs) l.
Proof.
  induction fs as [|f fs IH]; intros H [|b l]; cbn [map product]; try reflexivity.
  rewrite (H f b), IH; [reflexivity | intros; apply H; now right | now left].
Qed.

(* the functions' expectations after a program that continues at each place *)
Definition after {A B} (f : A -> tree B) (h : B -> R) (a : A) : R := E (f a) h.
Lemma units_after {A B} (f : A -> tree B) fs : units fs -> units (map (after f) fs).
Proof. intros H h Hh. apply in_map_iff in Hh as (h' & <- & Hh'). intros a. now apply E_unit, H. Qed.

Theorem E_each {A B} (f : A -> tree B) l : forall fs, units fs -> E (each f l) (product fs) = product (map (after f) fs) l.
Proof.
  induction l as [|a l IH]; intros fs Hu; cbn [each].
  - rewrite E_Ret. destruct fs; reflexivity.
  - rewrite E_bind by now apply unit_product. destruct fs as [|h fs].
    + rewrite (E_ext _ _ (fun _ => 0)); [apply E_zero|]. intros b. rewrite E_bind by now apply unit_product.
      rewrite (E_ext _ _ (fun _ => 0)); [apply E_zero|]. intros bs. now rewrite E_Ret.
    + apply units_cons in Hu as [Hh Hfs]. cbn [map product]. unfold after at 1. rewrite Rmult_comm, <- E_scal by exact Hh.
      apply E_ext. intros b. rewrite E_bind by (apply (unit_product (h :: fs)); intros x [<-|Hx]; auto).
      rewrite (E_ext _ _ (fun bs => h b * product fs bs)) by (intros bs; now rewrite E_Ret).
      rewrite E_scal by now apply unit_product. rewrite IH by exact Hfs. ring.
Qed.

Lemma only_each {A B} (f : A -> tree B) l : only (each f l) (fun bs => length bs = length l).
Proof.
  induction l as [|a l IH]; cbn [each]; [now apply only_Ret|].
  apply (only_bind _ _ (fun _ => True)); [apply only_any|]. intros b _. apply (only_bind _ _ _ _ IH). intros bs H.
  apply only_Ret. cbn [length]. now rewrite H.
Qed.

(* ---- stage by stage, batch by batch ---- *)
Section Stages.
  Context {S : Type}.
  Variable stages : list (S -> tree S).
  Fixpoint one_of (stages : list (S -> tree S)) (s : S) : tree S :=
    match stages with [] => Ret s | stage :: stages => bind (stage s) (one_of stages) end.
  Fixpoint together_of (stages : list (S -> tree S)) (l : list S) : tree (list S) :=
    match stages with [] => Ret l | stage :: stages => bind (each stage l) (together_of stages) end.
  Definition one := one_of stages.
  Definition together := together_of stages.

  Theorem E_together l fs : units fs -> E (together l) (product fs) = product (map (after one) fs) l.
  Proof.
    unfold one, together. revert l fs. induction stages as [|stage rest IH]; intros l fs Hu; cbn [together_of].
    - rewrite E_Ret, <- (map_id fs) at 1. apply product_ext. intros f b Hf. unfold after. cbn [one_of]. now rewrite E_Ret.
    - rewrite E_bind by now apply unit_product.
      rewrite (E_ext _ _ (product (map (after (one_of rest)) fs))) by (intros bs; now apply IH).
      rewrite E_each by now apply units_after. rewrite map_map. apply product_ext. intros f b Hf. unfold after. cbn [one_of].
      now rewrite E_bind by now apply Hu.
  Qed.
  Lemma only_together l : only (together l) (fun r => length r = length l).
  Proof.
    unfold together. revert l. induction stages as [|stage rest IH]; intros l; cbn [together_of]; [now apply only_Ret|].
    apply (only_bind _ _ _ _ (only_each stage l)). intros bs Hb f Hf H0. apply (IH bs f Hf). intros a Ha. apply H0. now rewrite Ha.
  Qed.

  Lemma product_app (fs : list (S -> R)) l m : product fs (l ++ m) = product (firstn (length l) fs) l * product (skipn (length l) fs) m.
  Proof.
    revert fs. induction l as [|a l IH]; intros fs; cbn [length app firstn skipn product]; [ring|].
    destruct fs as [|f fs]; cbn [product]; [ring|]. rewrite IH. ring.
  Qed.
  Lemma units_part fs n : units fs -> @units S (firstn n fs) /\ units (skipn n fs).
  Proof. intros H. split; intros f Hf; apply H; rewrite <- (firstn_skipn n fs), in_app_iff; auto. Qed.

  (* batches of k; the last one has the remaining draws *)
  Variable k : nat.
  Fixpoint batches (n : nat) (l : list S) : tree (list S) :=
    match n with
    | O => together l
    | Datatypes.S n => bind (together (firstn k l)) (fun r => bind (batches n (skipn k l)) (fun rs => Ret (r ++ rs)))
    end.

  Lemma only_batches n : forall l, only (batches n l) (fun r => length r = length l).
  Proof.
    induction n as [|n IH]; intros l; cbn [batches]; [apply only_together|].
    apply (only_bind _ _ _ _ (only_together _)). intros r Hr. apply (only_bind _ _ _ _ (IH _)). intros rs Hrs. apply only_Ret.
    now rewrite <- (firstn_skipn k l), !app_length, Hr, Hrs.
  Qed.

  Theorem E_batches n : forall l fs, units fs -> E (batches n l) (product fs) = product (map (after one) fs) l.
  Proof.
    induction n as [|n IH]; intros l fs Hu; cbn [batches]; [now apply E_together|].
    set (b := firstn k l). set (m := skipn k l). pose proof (units_part fs (length b) Hu) as [Hb Hm].
    rewrite E_bind by now apply unit_product.
    rewrite (E_only_ext _ (fun r => length r = length b) _
      (fun r => product (map (after one) (skipn (length b) fs)) m * product (firstn (length b) fs) r)).
    - rewrite E_scal by now apply unit_product. rewrite E_together by exact Hb.
      replace l with (b ++ m) by apply firstn_skipn. rewrite product_app, firstn_map, skipn_map. ring.
    - apply only_together.
    - apply unit_E. now apply unit_product.
    - intros r. pose proof (unit_product _ (units_after one _ Hm) m). pose proof (unit_product _ Hb r). nra.
    - intros r Hr. rewrite E_bind by now apply unit_product.
      rewrite (E_ext _ _ (fun rs => product (firstn (length b) fs) r * product (skipn (length b) fs) rs)).
      + rewrite E_scal by now apply unit_product. rewrite IH by exact Hm. ring.
      + intros rs. now rewrite E_Ret, product_app, Hr.
  Qed.
End Stages.

(* ---- rounds: a slot is a draw's value, or still open ---- *)
Lemma again_once {A} (attempt : tree (option A)) f : unit_f f ->
  E (again attempt) f = E attempt (fun o => match o with Some a => f a | None => E (again attempt) f end).
Proof.
  intros Hf. unfold again at 1. rewrite E_loop, E_bind by (exact Hf || now apply unit_go_on).
  apply E_ext. intros [a|]; now rewrite E_Ret.
Qed.

(* the least solution is below every other *)
Lemma loop_least {S A} (step : S -> tree (S + A)) f (G : S -> R) : unit_f f -> unit_f G ->
  (forall s, E (step s) (fun r => match r with inl s => G s | inr a => f a end) <= G s) -> forall s, E (loop step s) f <= G s.
Proof.
  intros Hf HG H s. set (F := fun r => match r with inl s => G s | inr a => f a end).
  assert (HF : unit_f F) by (intros [x|a]; simpl; auto).
  apply Rle_trans with (E (step s) F); [|apply H].
  apply E_least; [exact Hf|]. intros n. apply Rle_trans with (mass n (step s) F); [|now apply E_above].
  unfold loop. generalize (step s) as t. induction n as [|n IH]; intros t; simpl; [lra|].
  destruct t as [[x|a]|c|t]; simpl; [|lra| |apply IH].
  - apply Rle_trans with (1 := IH (step x)). apply Rle_trans with (2 := H x). now apply E_above.
  - pose proof (IH (c true)). pose proof (IH (c false)). lra.
Qed.

Section Rounds.
  Context {S V : Type}.
  Variables (stages : list (S -> tree S)) (start : S) (finish : S -> option V) (k : nat).

  Definition attempt : tree (option V) := bind (one stages start) (fun s => Ret (finish s)).
  Fixpoint n_open (slots : list (option V)) : nat :=
    match slots with [] => O | Some _ :: slots => n_open slots | None :: slots => Datatypes.S (n_open slots) end.
  Fixpoint put (slots : list (option V)) (results : list S) : list (option V) :=
    match slots, results with
    | [], _ => []
    | None :: slots, s :: results => finish s :: put slots results
    | slot :: slots, results => slot :: put slots results
    end.
  Definition round (slots : list (option V)) : tree (list (option V)) :=
    bind (batches stages k (n_open slots) (repeat start (n_open slots))) (fun results => Ret (put slots results)).
  Fixpoint values (slots : list (option V)) : list V :=
    match slots with [] => [] | Some v :: slots => v :: values slots | None :: slots => values slots end.
  Definition fill_step (slots : list (option V)) : tree (list (option V) + list V) :=
    match n_open slots with O => Ret (inr (values slots)) | _ => bind (round slots) (fun slots => Ret (inl slots)) end.
  Definition fill (n : nat) : tree (list V) := loop fill_step (repeat None n).

  (* ---- one round ---- *)
  Definition turn (f : option V -> R) (o : option V) : R := match o with Some v => f (Some v) | None => E attempt f end.
  Fixpoint settled (fs : list (option V -> R)) (slots : list (option V)) : R :=
    match fs, slots with
    | [], [] => 1
    | f :: fs, Some v :: slots => f (Some v) * settled fs slots
    | _ :: fs, None :: slots => settled fs slots
    | _, _ => 0
    end.
  Fixpoint open_fs (fs : list (option V -> R)) (slots : list (option V)) : list (S -> R) :=
    match fs, slots with
    | f :: fs, None :: slots => (fun s => f (finish s)) :: open_fs fs slots
    | _ :: fs, Some _ :: slots => open_fs fs slots
    | _, _ => []
    end.

  Lemma product_put slots : forall fs results, length results = n_open slots ->
    product fs (put slots results) = settled fs slots * product (open_fs fs slots) results.
  Proof.
    induction slots as [|[v|] slots IH]; intros [|f fs] results Hr; cbn [n_open] in Hr.
    - destruct results; [simpl; ring | discriminate].
    - simpl. ring.
    - simpl. ring.
    - cbn [put product settled open_fs]. rewrite IH by exact Hr. ring.
    - destruct results as [|s results]; simpl; ring.
    - destruct results as [|s results]; [discriminate|]. injection Hr as Hr. cbn [put product settled open_fs].
      rewrite IH by exact Hr. ring.
  Qed.
  Lemma units_open slots : forall fs, units fs -> units (open_fs fs slots).
  Proof.
    induction slots as [|[v|] slots IH]; intros [|f fs] Hu; cbn [open_fs]; try solve [intros h []].
    - apply units_cons in Hu as [_ Hu]. now apply IH.
    - apply units_cons in Hu as [Hf Hu]. intros h [<-|Hh]; [intros s; apply Hf | now apply (IH fs Hu)].
  Qed.
  Lemma unit_settled slots : forall fs, units fs -> 0 <= settled fs slots <= 1.
  Proof.
    induction slots as [|[v|] slots IH]; intros [|f fs] Hu; cbn [settled]; try lra; apply units_cons in Hu as [Hf Hu];
      specialize (IH fs Hu); [specialize (Hf (Some v)); nra | exact IH].
  Qed.
  Lemma put_length slots : forall results, length (put slots results) = length slots.
  Proof. induction slots as [|[v|] slots IH]; intros results; [reflexivity | | destruct results]; cbn [put length]; now rewrite IH. Qed.
  Lemma only_round slots : only (round slots) (fun s => length s = length slots).
  Proof.
    apply (only_bind _ _ (fun _ => True)); [apply only_any|]. intros r _. apply only_Ret. apply put_length.
  Qed.

  Lemma turns slots : forall fs, units fs ->
    settled fs slots * product (map (after (one stages)) (open_fs fs slots)) (repeat start (n_open slots)) = product (map turn fs) slots.
  Proof.
    induction slots as [|[v|] slots IH]; intros [|f fs] Hu; cbn [settled open_fs n_open repeat map product turn]; try ring;
      apply units_cons in Hu as [Hf Hu]; rewrite <- (IH fs Hu); [ring|].
    unfold attempt. rewrite E_bind by exact Hf.
    rewrite (E_ext _ (fun a => E (Ret (finish a)) f) (fun s => f (finish s))) by (intros s; now rewrite E_Ret).
    unfold after at 1. ring.
  Qed.

  Theorem E_round slots fs : units fs -> E (round slots) (product fs) = product (map turn fs) slots.
  Proof.
    intros Hu. unfold round. rewrite E_bind by now apply unit_product.
    rewrite (E_only_ext _ (fun r => length r = length (repeat start (n_open slots))) _
      (fun r => settled fs slots * product (open_fs fs slots) r)).
    - pose proof (units_open slots fs Hu) as Ho. rewrite E_scal by now apply unit_product.
      rewrite E_batches by exact Ho. now apply turns.
    - apply only_batches.
    - apply unit_E. now apply unit_product.
    - intros r. pose proof (unit_settled slots fs Hu). pose proof (unit_product _ (units_open slots fs Hu) r). nra.
    - intros r Hr. rewrite repeat_length in Hr. rewrite E_Ret. now apply product_put.
  Qed.

  (* ---- all rounds ---- *)
  Hypothesis ends : E attempt (fun _ => 1) = 1.
  Hypothesis succeeds : 0 < E attempt (some (fun _ => 1)).
  Let q : R := E attempt none.

  Lemma q_is : 0 <= q < 1.
  Proof.
    split; [apply E_unit, unit_none|]. pose proof ends as H. unfold q.
    rewrite (E_ext attempt (fun _ => 1) (fun o => 1 * some (fun _ => 1) o + 1 * none o)) in H by (intros [a|]; simpl; ring).
    rewrite E_lin in H by (apply unit_some, unit_one || apply unit_none). lra.
  Qed.

  (* the value of a slot, an open one counted with the share c *)
  Definition worth (c : R) (f : V -> R) (o : option V) : R := match o with Some v => f v | None => c * E (again attempt) f end.
  Lemma unit_worth c f : 0 <= c <= 1 -> unit_f f -> unit_f (worth c f).
  Proof. intros Hc Hf [v|]; cbn [worth]; [apply Hf|]. pose proof (E_unit (again attempt) f Hf). nra. Qed.
  Lemma units_worth c fs : 0 <= c <= 1 -> units fs -> units (map (worth c) fs).
  Proof. intros Hc Hu h Hh. apply in_map_iff in Hh as (f & <- & Hf). apply unit_worth; auto. Qed.

  Lemma turn_worth c f : 0 <= c <= 1 -> unit_f f -> E attempt (worth c f) = (1 - q * (1 - c)) * E (again attempt) f.
  Proof.
    intros Hc Hf. set (x := E (again attempt) f).
    assert (Hx : x = E attempt (some f) + x * q).
    { unfold x at 1. rewrite again_once by exact Hf. fold x.
      rewrite (E_ext attempt _ (fun o => 1 * some f o + x * none o)) by (intros [a|]; simpl; ring).
      rewrite E_lin by (now apply unit_some || apply unit_none). unfold q. ring. }
    rewrite (E_ext attempt _ (fun o => 1 * some f o + (c * x) * none o)) by (intros [a|]; unfold worth; fold x; simpl; ring).
    rewrite E_lin by (now apply unit_some || apply unit_none). fold q. nra.
  Qed.

  Lemma round_worth c slots fs : 0 <= c <= 1 -> units fs ->
    E (round slots) (product (map (worth c) fs)) = product (map (worth (1 - q * (1 - c))) fs) slots.
  Proof.
    intros Hc Hu. rewrite E_round by now apply units_worth. rewrite map_map. apply product_ext. intros f [v|] Hf; [reflexivity|].
    cbn [turn]. rewrite turn_worth by auto. reflexivity.
  Qed.

  Lemma no_more slots c : forall fs, n_open slots = O -> product (map (worth c) fs) slots = product fs (values slots).
  Proof.
    induction slots as [|[v|] slots IH]; intros [|f fs] H; cbn [n_open] in H; try discriminate; cbn [map product values worth]; try reflexivity.
    now rewrite IH.
  Qed.

  Lemma E_step slots F : unit_f F -> E (fill_step slots) F =
    match n_open slots with O => F (inr (values slots)) | _ => E (round slots) (fun s => F (inl s)) end.
  Proof.
    intros HF. unfold fill_step. destruct (n_open slots); [now rewrite E_Ret|]. rewrite E_bind by exact HF.
    apply E_ext. intros s. now rewrite E_Ret.
  Qed.

  Lemma unit_one_is : 0 <= 1 <= 1. Proof. lra. Qed.

  Lemma at_most fs : units fs -> forall slots, E (loop fill_step slots) (product fs) <= product (map (worth 1) fs) slots.
  Proof.
    intros Hu. pose proof (units_worth 1 fs unit_one_is Hu) as Hw.
    apply loop_least; [now apply unit_product | now apply unit_product|]. intros slots. rewrite E_step.
    - destruct (n_open slots) eqn:Hn; [right; symmetry; now apply no_more|].
      rewrite round_worth by (exact unit_one_is || exact Hu). replace (1 - q * (1 - 1)) with 1 by ring. lra.
    - intros [s|l]; now apply unit_product.
  Qed.

  Lemma at_least fs j : units fs -> forall slots, product (map (worth (1 - q ^ j)) fs) slots <= E (loop fill_step slots) (product fs).
  Proof.
    intros Hu. pose proof q_is as Hq. pose proof (unit_product fs Hu) as Hp.
    assert (Hpow : forall j, 0 <= q ^ j <= 1).
    { intros i. split; [apply pow_le; lra|]. rewrite <- (pow1 i). apply pow_incr. lra. }
    induction j as [|j IH]; intros slots; (rewrite E_loop by exact Hp); (rewrite E_step by now apply unit_go_on);
      (destruct (n_open slots) as [|n] eqn:Hn; [right; cbn [go_on]; now apply no_more|]).
    - replace (product _ slots) with 0; [apply E_unit; intros s; now apply E_unit|]. symmetry.
      revert fs n Hn Hu Hp. induction slots as [|[v|] slots IH]; intros [|f fs] n Hn Hu Hp; cbn [n_open] in Hn; try discriminate;
        cbn [map product worth]; try reflexivity.
      + apply units_cons in Hu as [Hf Hu]. rewrite (IH fs n Hn Hu (unit_product fs Hu)). ring.
      + simpl. ring.
    - apply Rle_trans with (E (round slots) (product (map (worth (1 - q ^ j)) fs))).
      + right. rewrite round_worth by (specialize (Hpow j); lra || exact Hu). do 2 f_equal. simpl. f_equal. ring.
      + apply E_mono; [apply unit_product, units_worth; [specialize (Hpow j); lra | exact Hu] | intros s; now apply E_unit | intros s; apply IH].
  Qed.

  Lemma worth_limit fs : units fs -> forall slots,
    is_lim_seq (fun j => product (map (worth (1 - q ^ j)) fs) slots) (product (map (worth 1) fs) slots).
  Proof.
    intros Hu. pose proof q_is as Hq.
    assert (Hl : is_lim_seq (fun j => 1 - q ^ j) 1).
    { replace (Finite 1) with (Finite (1 - 0)) by (f_equal; ring). apply is_lim_seq_minus'; [apply is_lim_seq_const|].
      apply is_lim_seq_geom. rewrite Rabs_pos_eq; lra. }
    induction fs as [|f fs IH]; intros [|o slots]; cbn [map product]; try apply is_lim_seq_const.
    apply units_cons in Hu as [Hf Hu]. apply is_lim_seq_mult'; [|now apply IH]. destruct o as [v|]; cbn [worth]; [apply is_lim_seq_const|].
    apply is_lim_seq_mult'; [exact Hl | apply is_lim_seq_const].
  Qed.

  (* lemma 24 *)
  Theorem fill_independent fs : units fs ->
    E (fill (length fs)) (product fs) = product (map (fun f (_ : unit) => E (again attempt) f) fs) (repeat tt (length fs)).
  Proof.
    intros Hu. transitivity (product (map (worth 1) fs) (repeat None (length fs))).
    - unfold fill. apply Rle_antisym; [now apply at_most|].
      apply (is_lim_seq_le _ (fun _ => E (loop fill_step (repeat None (length fs))) (product fs)) (Finite _) (Finite _)
        (fun j => at_least fs j Hu _) (worth_limit fs Hu _) (is_lim_seq_const _)).
    - clear Hu. induction fs as [|f fs IH]; [reflexivity|]. cbn [length repeat map product worth]. rewrite IH. ring.
  Qed.

  Theorem fill_ends n : E (fill n) (fun l => if Nat.eqb (length l) n then 1 else 0) = 1.
  Proof.
    set (fs := repeat (fun _ : V => 1) n). assert (Hu : units fs) by (intros f Hf; apply repeat_spec in Hf; subst f; apply unit_one).
    assert (Hn : length fs = n) by apply repeat_length.
    rewrite (E_ext _ _ (product fs)).
    - rewrite <- Hn at 1. rewrite fill_independent by exact Hu. rewrite Hn. unfold fs.
      pose proof (again_ends attempt ends succeeds) as He. clear - He. induction n as [|n IH]; [reflexivity|].
      cbn [repeat map product]. rewrite IH, He. ring.
    - intros l. unfold fs. clear. revert l. induction n as [|n IH]; intros [|v l]; cbn [repeat product length Nat.eqb]; try reflexivity.
      rewrite <- IH. ring.
  Qed.
End Rounds.

(* n independent draws, each with the law, and a fill that ends *)
Theorem fill_law {S} (stages : list (S -> tree S)) start (finish : S -> option Z) k weight :
  let attempt := attempt stages start finish in
  E attempt (fun _ => 1) = 1 -> 0 < E attempt (some (fun _ => 1)) -> has_law weight (again attempt) ->
  exists total, is_lim_seq (sum_g weight) (Finite total) /\ 0 < total /\
  (forall ys, E (fill stages start finish k (length ys)) (product (map at_z ys)) = fold_right (fun y p => weight y / total * p) 1 ys) /\
  forall n, E (fill stages start finish k n) (fun l => if Nat.eqb (length l) n then 1 else 0) = 1.
Proof.
  cbv zeta. intros He Hs (total & L1 & L2 & L3 & _). exists total. split; [exact L1|]. split; [exact L2|]. split.
  - intros ys. set (fs := map at_z ys).
    assert (Hu : units fs) by (intros f Hf; apply in_map_iff in Hf as (y & <- & _); apply unit_at_z).
    replace (length ys) with (length fs) by apply map_length. rewrite fill_independent by assumption. unfold fs. clear Hu fs.
    induction ys as [|y ys IH]; [reflexivity|]. cbn [map length repeat product fold_right]. now rewrite IH, L3.
  - intros n. now apply fill_ends.
Qed.

(* the same for draws that are made one after the other *)
Theorem one_by_one weight p : has_law weight p ->
  exists total, is_lim_seq (sum_g weight) (Finite total) /\ 0 < total /\
  forall ys, E (each (fun _ : unit => p) (repeat tt (length ys))) (product (map at_z ys)) = fold_right (fun y r => weight y / total * r) 1 ys.
Proof.
  intros (total & L1 & L2 & L3 & _). exists total. repeat split; [exact L1 | exact L2|]. intros ys. rewrite E_each.
  - induction ys as [|y ys IH]; [reflexivity|]. cbn [map length repeat product fold_right]. unfold after at 1. now rewrite IH, L3.
  - intros f Hf. apply in_map_iff in Hf as (y & <- & _). apply unit_at_z.
Qed.
