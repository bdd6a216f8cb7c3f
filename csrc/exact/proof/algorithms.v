(* Algorithms 1, 2 and 3 of Canonne, Kamath, Steinke (2020), as big.c and words.c implement them: they have their laws, for
   all rational parameters, and they end almost surely. *)
From Coq Require Import Reals Lra Lia ZArith List Bool Factorial.
From Coquelicot Require Import Coquelicot.
From DG.exact Require Import programs laws.
Import ListNotations.
Open Scope R_scope.

(* ---- coins ---- *)
Definition coin (t : tree bool) (p : R) : Prop := E t yes = p /\ E t (fun _ => 1) = 1.
Lemma coin_E t p f : coin t p -> unit_f f -> E t f = p * f true + (1 - p) * f false.
Proof.
  intros [Hy H1] Hf. pose proof (Hf true) as Ht. pose proof (Hf false) as Hff.
  rewrite (E_ext t f (fun c => f true * yes c + f false * (1 - yes c))) by (intros [|]; simpl; ring).
  assert (Hn : unit_f (fun c => 1 - yes c)) by (intros [|]; simpl; lra).
  assert (En : E t (fun c => 1 - yes c) = 1 - p).
  { rewrite (E_ext t (fun c => 1 - yes c) (fun c => 1 * 1 + -1 * yes c)) by (intros; ring).
    rewrite (E_lin t (fun _ => 1) yes 1 (-1) unit_one unit_yes). lra. }
  rewrite E_lin by (exact unit_yes || exact Hn). rewrite Hy, En. ring.
Qed.
Lemma coin_unit t p : coin t p -> 0 <= p <= 1.
Proof. intros [<- _]. apply E_unit, unit_yes. Qed.
Lemma coin_ends t p : coin t p -> E t (fun _ => 1) = 1. Proof. now intros [_ H]. Qed.

(* ---- uniform below n >= 1 ---- *)
Definition uniform (n : positive) : tree Z :=
  again (bind (number (Pos.size_nat n)) (fun x => Ret (if (x <? Zpos n)%Z then Some x else None))).

Lemma total_below n m (f : Z -> R) : (n <= m)%nat ->
  total (fun x => if (x <? Z.of_nat n)%Z then f x else 0) (zs m) = total f (zs n).
Proof.
  intros H. replace m with (n + (m - n))%nat by lia. unfold zs. rewrite seq_app, map_app, total_app.
  rewrite (total_zero _ (map Z.of_nat (seq (0 + n) _))), Rplus_0_r.
  - apply total_ext. intros x Hx. apply (zs_in n) in Hx. destruct (Z.ltb_spec x (Z.of_nat n)); [reflexivity | lia].
  - intros x Hx. apply in_map_iff in Hx. destruct Hx as (i & <- & Hi). apply in_seq in Hi.
    destruct (Z.ltb_spec (Z.of_nat i) (Z.of_nat n)); [lia | reflexivity].
Qed.
Lemma size_enough n : (Pos.to_nat n <= 2 ^ Pos.size_nat n)%nat.
Proof.
  apply Nat.lt_le_incl, Nat2Z.inj_lt. rewrite positive_nat_Z, Nat2Z.inj_pow. simpl Z.of_nat at 1.
  induction n as [n IH|n IH|]; simpl Pos.size_nat; rewrite ?Nat2Z.inj_succ, ?Z.pow_succ_r by lia; lia.
Qed.

Theorem uniform_law n f : unit_f f -> E (uniform n) f = / IZR (Zpos n) * total f (zs (Pos.to_nat n)).
Proof.
  intros Hf. set (b := Pos.size_nat n). set (N := Pos.to_nat n).
  assert (Hb : 0 < 2 ^ b) by (apply pow_lt; lra). assert (HN : IZR (Zpos n) = INR N) by (unfold N; now rewrite INR_IZR_INZ, positive_nat_Z).
  assert (HN0 : 0 < INR N) by (apply lt_0_INR; unfold N; lia).
  assert (H : forall h, unit_f h -> E (bind (number b) (fun x => Ret (if (x <? Zpos n)%Z then Some x else None))) (some h) = / 2 ^ b * total h (zs N)).
  { intros h Hh. rewrite E_bind by now apply unit_some.
    rewrite (E_ext _ _ (fun x => if (x <? Zpos n)%Z then h x else 0)) by (intros x; rewrite E_Ret; now destruct (x <? Zpos n)%Z).
    rewrite number_law by (intros x; pose proof (Hh x); destruct (x <? Zpos n)%Z; lra).
    f_equal. rewrite <- (total_below N (2 ^ b) h) by apply size_enough. unfold N. now rewrite positive_nat_Z. }
  pose proof (H (fun _ => 1) unit_one) as H1. rewrite zs_length in H1.
  unfold uniform. fold b. rewrite again_law.
  - rewrite (H f Hf), H1, HN. field. lra.
  - exact Hf.
  - apply bind_ends; [apply number_ends|]. intros x. now rewrite E_Ret.
  - rewrite H1. apply Rmult_lt_0_compat; [now apply Rinv_0_lt_compat | exact HN0].
Qed.
Lemma uniform_ends n : E (uniform n) (fun _ => 1) = 1.
Proof.
  rewrite uniform_law by apply unit_one. rewrite zs_length, INR_IZR_INZ, positive_nat_Z. apply Rinv_l, not_0_IZR. lia.
Qed.

(* true with probability a/b *)
Definition bernoulli (a : Z) (b : positive) : tree bool := bind (uniform b) (fun x => Ret (x <? a)%Z).
Theorem bernoulli_law a b : (0 <= a <= Zpos b)%Z -> coin (bernoulli a b) (IZR a / IZR (Zpos b)).
Proof.
  intros Ha. split.
  - unfold bernoulli. rewrite E_bind by apply unit_yes.
    rewrite (E_ext _ _ (fun x => if (x <? a)%Z then 1 else 0)) by (intros x; rewrite E_Ret; now destruct (x <? a)%Z).
    rewrite uniform_law by (intros x; destruct (x <? a)%Z; lra).
    pose proof (total_below (Z.to_nat a) (Pos.to_nat b) (fun _ => 1) ltac:(lia)) as H. rewrite Z2Nat.id in H by lia.
    rewrite H, zs_length, INR_IZR_INZ, Z2Nat.id by lia. field. apply not_0_IZR. lia.
  - unfold bernoulli. apply bind_ends; [apply uniform_ends|]. intros x. now rewrite E_Ret.
Qed.

(* ---- Algorithm 1 ----
   For any program that flips a coin of a/b, and any that draws a number below n. Those of big.c and words.c read bytes as
   needed. Those above are examples. *)
Section Code.
Variables (flip : Z -> positive -> tree bool) (below : positive -> tree Z).
Hypothesis flip_law : forall a b, (0 <= a <= Zpos b)%Z -> coin (flip a b) (IZR a / IZR (Zpos b)).
Hypothesis below_law : forall n f, unit_f f -> E (below n) f = / IZR (Zpos n) * total f (zs (Pos.to_nat n)).

(* exp(-a/b), a <= b: von Neumann's coins of a/b, a/(2b), a/(3b) ... *)
Definition exp_step (a : Z) (b : positive) (k : positive) : tree (positive + bool) :=
  bind (flip a (b * k)) (fun c : bool => Ret (if c then inl (Pos.succ k) else inr (Z.odd (Zpos k)))).
Definition exp_below_one (a : Z) (b : positive) : tree bool := loop (exp_step a b) 1%positive.

Section ExpBelowOne.
  Variables (a : Z) (b : positive).
  Hypothesis Hab : (0 <= a <= Zpos b)%Z.
  Let x := IZR a / IZR (Zpos b).
  Let q (n : nat) f := E (loop (exp_step a b) (Pos.of_succ_nat n)) f.

  Lemma x_unit : 0 <= x <= 1.
  Proof.
    unfold x. assert (0 < IZR (Zpos b)) by (apply IZR_lt; lia). destruct Hab as [H1 H2]. apply IZR_le in H1, H2.
    split; [apply Rdiv_le_0_compat; lra | apply Rle_div_l; lra].
  Qed.

  Lemma q_step n f : unit_f f ->
    q n f = x / INR (S n) * q (S n) f + (1 - x / INR (S n)) * f (Z.odd (Z.of_nat (S n))).
  Proof.
    intros Hf. unfold q at 1. rewrite E_loop by exact Hf. unfold exp_step at 1. rewrite E_bind by now apply unit_go_on.
    rewrite (coin_E _ (x / INR (S n))).
    - rewrite !E_Ret. reflexivity.
    - replace (x / INR (S n)) with (IZR a / IZR (Zpos (b * Pos.of_succ_nat n))).
      + apply flip_law. nia.
      + unfold x. rewrite Pos2Z.inj_mul, mult_IZR, Zpos_P_of_succ_nat, <- Nat2Z.inj_succ, <- INR_IZR_INZ. field.
        split; (apply not_0_INR; lia) || (apply not_0_IZR; lia).
    - intros c. apply E_unit. now apply unit_go_on.
  Qed.
  Lemma q_unit n f : unit_f f -> 0 <= q n f <= 1. Proof. intros Hf. now apply E_unit. Qed.

  (* the sign of step n + 1 is that of its parity *)
  Let p (n : nat) : R := if Nat.even n then q n yes else 1 - q n yes.
  Lemma p_step n : p n = 1 - x / INR (S n) * p (S n).
  Proof.
    unfold p. rewrite (q_step n yes unit_yes), Nat.even_succ. rewrite <- Nat.negb_even.
    replace (Z.odd (Z.of_nat (S n))) with (Nat.even n).
    - destruct (Nat.even n); simpl negb; cbv iota; unfold yes at 2; ring.
    - rewrite Nat2Z.inj_succ, Z.odd_succ. apply eq_true_iff_eq. rewrite Nat.even_spec, Z.even_spec. split.
      + intros [m ->]. exists (Z.of_nat m). lia.
      + intros [m Hm]. exists (Z.to_nat m). lia.
  Qed.
  Lemma p_unit n : 0 <= p n <= 1.
  Proof. unfold p. pose proof (q_unit n yes unit_yes). destruct (Nat.even n); lra. Qed.

  Lemma p_series n : p 0 = sum_f_R0 (fun i => / INR (fact i) * (- x) ^ i) n + (- x) ^ S n / INR (fact (S n)) * p (S n).
  Proof.
    assert (H : forall i, INR (fact i) <> 0) by apply INR_fact_neq_0.
    induction n as [|n IH].
    - rewrite (p_step 0). simpl. field.
    - rewrite IH, (p_step (S n)), tech5. rewrite (fact_simpl (S n)), mult_INR.
      assert (INR (S (S n)) <> 0) by (apply not_0_INR; lia). rewrite <- (tech_pow_Rmult (- x) (S n)). field. auto.
  Qed.

  Lemma small y c : Un_cv (fun n => y ^ S n / INR (fact (S n)) * c n) 0 \/ exists n, ~ (0 <= c n <= 1).
  Proof.
    destruct (Classical_Prop.classic (forall n, 0 <= c n <= 1)) as [Hc|Hn]; [left | right; now apply Classical_Pred_Type.not_all_ex_not].
    intros e He. destruct (cv_speed_pow_fact y e He) as [N HN]. exists N. intros n Hn.
    specialize (HN (S n) ltac:(lia)). unfold R_dist in *. rewrite Rminus_0_r in *. rewrite Rabs_mult.
    pose proof (Hc n). rewrite (Rabs_pos_eq (c n)) by lra. pose proof (Rabs_pos (y ^ S n / INR (fact (S n)))). nra.
  Qed.

  Theorem exp_below_one_law : coin (exp_below_one a b) (exp (- x)).
  Proof.
    split.
    - change (E (exp_below_one a b) yes) with (p 0).
      destruct (small (- x) (fun n => p (S n))) as [Hs|[n Hn]]; [|exfalso; apply Hn, p_unit].
      pose proof (proj2_sig (exist_exp (- x))) as He. change (proj1_sig (exist_exp (- x))) with (exp (- x)) in He.
      unfold exp_in, infinite_sum in He.
      apply cond_eq. intros e Hpos. destruct (He (e / 2) ltac:(lra)) as [N1 H1]. destruct (Hs (e / 2) ltac:(lra)) as [N2 H2].
      set (n := (N1 + N2)%nat). specialize (H1 n ltac:(unfold n; lia)). specialize (H2 n ltac:(unfold n; lia)).
      unfold R_dist in *. rewrite (p_series n). rewrite Rminus_0_r in H2.
      match goal with |- Rabs (?s + ?t - ?v) < _ => replace (s + t - v) with ((s - v) + t) by ring end.
      apply Rle_lt_trans with (1 := Rabs_triang _ _). lra.
    - change (E (exp_below_one a b) (fun _ => 1)) with (q 0 (fun _ => 1)).
      assert (H : forall n, 1 - q 0 (fun _ => 1) = x ^ S n / INR (fact (S n)) * (1 - q (S n) (fun _ => 1))).
      { intros n. assert (Hi : forall i, INR (fact i) <> 0) by apply INR_fact_neq_0. induction n as [|n IH].
        - rewrite (q_step 0 _ unit_one). simpl. field.
        - rewrite IH, (q_step (S n) _ unit_one), (fact_simpl (S n)), mult_INR, <- (tech_pow_Rmult x (S n)).
          assert (INR (S (S n)) <> 0) by (apply not_0_INR; lia). field. auto. }
      destruct (small x (fun n => 1 - q (S n) (fun _ => 1))) as [Hs|[n Hn]].
      + enough (1 - q 0 (fun _ => 1) = 0) by lra. apply cond_eq. intros e He. destruct (Hs e He) as [N HN].
        specialize (HN N ltac:(lia)). unfold R_dist in HN. now rewrite <- H in HN.
      + exfalso. apply Hn. pose proof (q_unit (S n) (fun _ => 1) unit_one). lra.
  Qed.
End ExpBelowOne.

(* exp(-a/b) for any a >= 0: the whole part by coins of exp(-1) *)
Fixpoint exp_whole (n : nat) (rest : tree bool) : tree bool :=
  match n with O => rest | S n => bind (exp_below_one 1 1) (fun c : bool => if c then exp_whole n rest else Ret false) end.
Definition bernoulli_exp (a : Z) (b : positive) : tree bool :=
  exp_whole (Z.to_nat (a / Zpos b)) (exp_below_one (a mod Zpos b) b).

Theorem bernoulli_exp_law a b : (0 <= a)%Z -> coin (bernoulli_exp a b) (exp (- (IZR a / IZR (Zpos b)))).
Proof.
  intros Ha. unfold bernoulli_exp.
  assert (H : forall n t y, coin t (exp (- y)) -> coin (exp_whole n t) (exp (- (INR n + y)))).
  { induction n as [|n IH]; intros t y Ht; [simpl; now rewrite Rplus_0_l|].
    pose proof (exp_below_one_law 1 1 ltac:(lia)) as H1. specialize (IH t y Ht). split.
    - cbn [exp_whole]. rewrite E_bind by apply unit_yes. rewrite (coin_E _ _ _ H1) by (intros c; apply E_unit, unit_yes).
      rewrite E_Ret. destruct IH as [-> _]. rewrite S_INR. simpl yes. rewrite Rmult_0_r, Rplus_0_r, <- exp_plus. f_equal. field.
    - cbn [exp_whole]. apply bind_ends; [exact (coin_ends _ _ H1)|]. intros [|]; [apply IH | now rewrite E_Ret]. }
  pose proof (Z.mod_pos_bound a (Zpos b) ltac:(lia)) as Hm.
  pose proof (H (Z.to_nat (a / Zpos b)) _ _ (exp_below_one_law (a mod Zpos b) b ltac:(lia))) as Hc.
  replace (IZR a / IZR (Zpos b)) with (INR (Z.to_nat (a / Zpos b)) + IZR (a mod Zpos b) / IZR (Zpos b)); [exact Hc|].
  rewrite INR_IZR_INZ, Z2Nat.id by (apply Z.div_pos; lia). pose proof (Z.div_mod a (Zpos b) ltac:(lia)) as Hd.
  assert (Hb : IZR (Zpos b) <> 0) by (apply not_0_IZR; lia).
  replace (IZR a) with (IZR (Zpos b) * IZR (a / Zpos b) + IZR (a mod Zpos b)) by (rewrite <- mult_IZR, <- plus_IZR; now rewrite <- Hd).
  field. exact Hb.
Qed.

(* ---- how often a coin succeeds before it fails ---- *)
Definition runs (c : tree bool) (i : Z) : tree Z := loop (fun i => bind c (fun r : bool => Ret (if r then inl (i + 1)%Z else inr i))) i.
Section Runs.
  Variables (c : tree bool) (p : R).
  Hypothesis Hc : coin c p.
  Hypothesis Hp : p < 1.
  Lemma runs_step i f : unit_f f -> E (runs c i) f = p * E (runs c (i + 1)) f + (1 - p) * f i.
  Proof.
    intros Hf. unfold runs at 1. rewrite E_loop by exact Hf. rewrite E_bind by now apply unit_go_on.
    rewrite (coin_E _ _ _ Hc) by (intros r; apply E_unit; now apply unit_go_on). now rewrite !E_Ret.
  Qed.
  Lemma vanishes y : 0 <= y -> (forall n, y <= p ^ n) -> y = 0.
  Proof.
    intros Hy H. pose proof (coin_unit _ _ Hc) as Hu. apply Rle_antisym; [|exact Hy]. apply le_epsilon. intros e He. rewrite Rplus_0_l.
    destruct (pow_lt_1_zero p ltac:(rewrite Rabs_pos_eq; lra) e He) as [n Hn]. specialize (Hn n (Nat.le_refl n)).
    rewrite Rabs_pos_eq in Hn by (apply pow_le; lra). specialize (H n). lra.
  Qed.
  Lemma runs_ends i : E (runs c i) (fun _ => 1) = 1.
  Proof.
    enough (1 - E (runs c i) (fun _ => 1) = 0) by lra. pose proof (coin_unit _ _ Hc) as Hu.
    apply vanishes; [pose proof (E_unit (runs c i) _ unit_one); lra|]. intros n. revert i.
    induction n as [|n IH]; intros i; [pose proof (E_unit (runs c i) _ unit_one); simpl; lra|].
    rewrite runs_step by apply unit_one. specialize (IH (i + 1)%Z). simpl. nra.
  Qed.
  (* from i on, no result is below i *)
  Lemma runs_none f i : unit_f f -> (forall j, (i <= j)%Z -> f j = 0) -> E (runs c i) f = 0.
  Proof.
    intros Hf H. pose proof (coin_unit _ _ Hc) as Hu. apply vanishes; [now apply E_unit|]. intros n. revert i H.
    induction n as [|n IH]; intros i H; [simpl; now apply E_unit|].
    rewrite runs_step by exact Hf. specialize (IH (i + 1)%Z ltac:(intros j Hj; apply H; lia)). rewrite (H i) by lia. simpl. nra.
  Qed.
  Lemma runs_before i j : (j < i)%Z -> E (runs c i) (at_z j) = 0.
  Proof.
    intros H. apply runs_none; [apply unit_at_z|]. intros z Hz. unfold at_z. destruct (Z.eqb_spec j z); [lia | reflexivity].
  Qed.
  Theorem runs_law n : forall i, E (runs c i) (at_z (i + Z.of_nat n)) = (1 - p) * p ^ n.
  Proof.
    induction n as [|n IH]; intros i; rewrite runs_step by apply unit_at_z.
    - rewrite runs_before by lia. unfold at_z. rewrite Z.add_0_r, Z.eqb_refl. simpl. ring.
    - replace (i + Z.of_nat (S n))%Z with (i + 1 + Z.of_nat n)%Z by lia. rewrite IH. unfold at_z.
      destruct (Z.eqb_spec (i + 1 + Z.of_nat n) i); [lia|]. simpl. ring.
  Qed.
End Runs.

(* ---- Algorithm 2 ---- *)
Definition one_e : tree bool := exp_below_one 1 1.
Lemma one_e_law : coin one_e (exp (-1)).
Proof. pose proof (exp_below_one_law 1 1 ltac:(lia)) as H. replace (- (IZR 1 / IZR 1)) with (-1) in H by field. exact H. Qed.
Lemma e_small : 0 < exp (-1) < 1.
Proof. split; [apply exp_pos|]. rewrite <- exp_0. apply exp_increasing. lra. Qed.

Section Laplace.
  Variables (t s : positive).                        (* the scale is t/s *)
  Definition stage_attempt : tree (option Z) :=
    bind (below t) (fun u => bind (bernoulli_exp u t) (fun keep : bool =>
      if keep then bind (runs one_e 0) (fun v => Ret (Some (u + Zpos t * v)%Z)) else Ret None)).
  Definition stage : tree Z := again stage_attempt.
  Definition geometric : tree Z := bind stage (fun x => Ret (x / Zpos s)%Z).
  Definition laplace_attempt : tree (option Z) :=
    bind geometric (fun y => Flip (fun negative : bool =>
      Ret (if negative then (if (y =? 0)%Z then None else Some (- y)%Z) else Some y))).
  Definition laplace : tree Z := again laplace_attempt.

  Let T := IZR (Zpos t).
  Lemma T_pos : 0 < T. Proof. apply IZR_lt. lia. Qed.
  Let c0 := (1 - exp (-1)) / T.
  Lemma c0_pos : 0 < c0. Proof. pose proof e_small. apply Rdiv_lt_0_compat; [lra | apply T_pos]. Qed.

  Lemma stage_E f : unit_f f -> E stage_attempt f = / T * total (fun u =>
      exp (- (IZR u / T)) * E (runs one_e 0) (fun v => f (Some (u + Zpos t * v)%Z)) + (1 - exp (- (IZR u / T))) * f None) (zs (Pos.to_nat t)).
  Proof.
    intros Hf. unfold stage_attempt. rewrite E_bind by exact Hf. rewrite below_law by (intros u; now apply E_unit).
    fold T. f_equal. apply total_ext. intros u Hu. apply zs_in in Hu. rewrite E_bind by exact Hf.
    rewrite (coin_E _ (exp (- (IZR u / T)))); [| apply bernoulli_exp_law; lia | intros b; now apply E_unit].
    rewrite E_bind by exact Hf. rewrite E_Ret. do 2 f_equal. apply E_ext. intros v. now rewrite E_Ret.
  Qed.

  Lemma stage_attempt_law x : E stage_attempt (is_y x) = if (0 <=? x)%Z then c0 * exp (- (IZR x / T)) else 0.
  Proof.
    pose proof T_pos as HT. pose proof one_e_law as H1. pose proof e_small as He.
    pose proof (Z.div_mod x (Zpos t) ltac:(lia)) as Hd. pose proof (Z.mod_pos_bound x (Zpos t) ltac:(lia)) as Hm.
    rewrite stage_E by apply unit_is_y. unfold is_y. cbn [some].
    rewrite (total_ext _ (fun u => if (x mod Zpos t =? 0 + u)%Z then
      exp (- (IZR (x mod Zpos t) / T)) * E (runs one_e 0) (at_z (x / Zpos t)) else 0)).
    - rewrite pick, positive_nat_Z. destruct (Z.leb_spec 0 (x mod Zpos t)), (Z.ltb_spec (x mod Zpos t) (0 + Zpos t)); simpl andb; try lia.
      destruct (Z.leb_spec 0 x) as [Hx|Hx].
      + assert (0 <= x / Zpos t)%Z by (apply Z.div_pos; lia).
        replace (x / Zpos t)%Z with (0 + Z.of_nat (Z.to_nat (x / Zpos t)))%Z at 1 by lia.
        rewrite (runs_law _ _ H1 ltac:(lra)). rewrite <- Rpower_pow by apply exp_pos. unfold Rpower. rewrite ln_exp.
        unfold c0. replace (exp (- (IZR x / T))) with (exp (- (IZR (x mod Zpos t) / T)) * exp (INR (Z.to_nat (x / Zpos t)) * -1)).
        { field. lra. }
        rewrite <- exp_plus. f_equal. rewrite INR_IZR_INZ, Z2Nat.id by lia.
        replace (IZR x) with (T * IZR (x / Zpos t) + IZR (x mod Zpos t)) by (unfold T; rewrite <- mult_IZR, <- plus_IZR; now rewrite <- Hd).
        field. lra.
      + assert (x / Zpos t < 0)%Z by (apply Z.div_lt_upper_bound; lia).
        rewrite (runs_before _ _ H1 ltac:(lra)) by lia. ring.
    - intros u Hu. apply zs_in in Hu. rewrite positive_nat_Z in Hu. rewrite Rmult_0_r, Rplus_0_r, Z.add_0_l.
      destruct (Z.eqb_spec (x mod Zpos t) u) as [<-|Hn].
      + f_equal. apply E_ext. intros v. unfold at_z. destruct (Z.eqb_spec x (x mod Zpos t + Zpos t * v)), (Z.eqb_spec (x / Zpos t) v); (reflexivity || nia).
      + rewrite (E_ext _ _ (fun _ => 0)); [rewrite E_zero; ring|]. intros v. unfold at_z.
        destruct (Z.eqb_spec x (u + Zpos t * v)) as [Hx|]; [|reflexivity]. exfalso. apply Hn. symmetry. apply Z.mod_unique with (q := v); lia.
  Qed.

  Lemma stage_attempt_ends : E stage_attempt (fun _ => 1) = 1.
  Proof.
    rewrite stage_E by apply unit_one. rewrite (total_ext _ (fun _ => 1)).
    - rewrite zs_length, INR_IZR_INZ, positive_nat_Z. apply Rinv_l. pose proof T_pos. fold T. lra.
    - intros u _. rewrite (runs_ends _ _ one_e_law ltac:(pose proof e_small; lra)). ring.
  Qed.
  Lemma stage_succeeds : 0 < E stage_attempt (some (fun _ => 1)).
  Proof.
    apply Rlt_le_trans with (E stage_attempt (is_y 0)).
    - rewrite stage_attempt_law. simpl Z.leb. cbv iota. apply Rmult_lt_0_compat; [apply c0_pos | apply exp_pos].
    - apply E_mono; [apply unit_is_y | apply unit_some, unit_one|]. intros [y|]; simpl; [apply unit_at_z | lra].
  Qed.
  Let c1 := c0 / E stage_attempt (some (fun _ => 1)).
  Lemma c1_pos : 0 < c1. Proof. apply Rdiv_lt_0_compat; [apply c0_pos | apply stage_succeeds]. Qed.

  Theorem stage_law x : E stage (at_z x) = if (0 <=? x)%Z then c1 * exp (- (IZR x / T)) else 0.
  Proof.
    unfold stage. rewrite again_law by (apply unit_at_z || apply stage_attempt_ends || apply stage_succeeds).
    fold (is_y x). rewrite stage_attempt_law. unfold c1. pose proof stage_succeeds. destruct (0 <=? x)%Z; field; lra.
  Qed.
  Lemma stage_none f : unit_f f -> (forall x, (0 <= x)%Z -> f x = 0) -> E stage f = 0.
  Proof.
    intros Hf H. unfold stage. rewrite again_law by (exact Hf || apply stage_attempt_ends || apply stage_succeeds).
    rewrite stage_E by now apply unit_some. rewrite (total_zero _ (zs (Pos.to_nat t))).
    - unfold Rdiv. ring.
    - intros u Hu. apply zs_in in Hu. cbn [some]. rewrite (runs_none _ _ one_e_law ltac:(pose proof e_small; lra)); [ring | intros v; apply Hf|].
      intros v Hv. apply H. lia.
  Qed.
  Lemma stage_agree f g : unit_f f -> unit_f g -> (forall x, (0 <= x)%Z -> f x = g x) -> E stage f = E stage g.
  Proof.
    assert (H : forall h, unit_f h -> E stage h = E stage (fun x => if (0 <=? x)%Z then h x else 0)).
    { intros h Hh. assert (U1 : unit_f (fun x => if (0 <=? x)%Z then h x else 0)) by (intros x; pose proof (Hh x); destruct (0 <=? x)%Z; lra).
      assert (U2 : unit_f (fun x => if (0 <=? x)%Z then 0 else h x)) by (intros x; pose proof (Hh x); destruct (0 <=? x)%Z; lra).
      rewrite (E_ext stage h (fun x => 1 * (if (0 <=? x)%Z then h x else 0) + 1 * (if (0 <=? x)%Z then 0 else h x)))
        by (intros x; destruct (0 <=? x)%Z; ring).
      rewrite (E_lin stage _ _ 1 1 U1 U2), (stage_none _ U2); [ring|]. intros x Hx. destruct (Z.leb_spec 0 x); [reflexivity | lia]. }
    intros Hf Hg He. rewrite (H f Hf), (H g Hg). apply E_ext. intros x. destruct (Z.leb_spec 0 x); [now apply He | reflexivity].
  Qed.
  Lemma stage_ends : E stage (fun _ => 1) = 1.
  Proof. apply again_ends; [apply stage_attempt_ends | apply stage_succeeds]. Qed.

  Lemma E_total {A} (p : tree A) (F : Z -> A -> R) l : (forall j, unit_f (F j)) -> unit_f (fun x => total (fun j => F j x) l) ->
    E p (fun x => total (fun j => F j x) l) = total (fun j => E p (F j)) l.
  Proof.
    intros HF. induction l as [|j l IH]; intros Hu; [simpl; apply E_zero|]. cbn [total] in *.
    assert (Hl : unit_f (fun x => total (fun j => F j x) l)).
    { intros x. pose proof (Hu x) as H1. pose proof (HF j x) as H2. cbv beta in H1. split; [|lra].
      clear - HF. induction l as [|i l IH]; simpl; [lra|]. pose proof (HF i x). lra. }
    rewrite (E_ext p _ (fun x => 1 * F j x + 1 * total (fun j => F j x) l)) by (intros; ring).
    rewrite (E_lin p _ _ 1 1 (HF j) Hl), IH by exact Hl. ring.
  Qed.

  (* x/s rounded down *)
  Let c2 := c1 * total (fun j => exp (- (IZR j / T))) (zs (Pos.to_nat s)).
  Lemma c2_pos : 0 < c2.
  Proof.
    unfold c2. apply Rmult_lt_0_compat; [apply c1_pos|]. unfold zs. destruct (Pos.to_nat s) as [|n] eqn:Hn; [lia|].
    cbn [seq map total]. apply Rplus_lt_le_0_compat; [apply exp_pos|].
    induction (map Z.of_nat (seq 1 n)) as [|j l IH]; simpl; [lra|]. pose proof (exp_pos (- (IZR j / T))). lra.
  Qed.
  Theorem geometric_law y : E geometric (at_z y) = if (0 <=? y)%Z then c2 * exp (- (IZR y * IZR (Zpos s) / T)) else 0.
  Proof.
    pose proof T_pos as HT. unfold geometric. rewrite E_bind by apply unit_at_z.
    destruct (Z.leb_spec 0 y) as [Hy|Hy].
    - rewrite (E_ext _ _ (fun x => total (fun j => at_z (Zpos s * y + j) x) (zs (Pos.to_nat s)))).
      + rewrite E_total.
        * unfold c2. rewrite Rmult_assoc, (Rmult_comm (total _ _)), <- Rmult_assoc, <- total_scal. apply total_ext. intros j Hj. apply zs_in in Hj.
          rewrite stage_law. destruct (Z.leb_spec 0 (Zpos s * y + j)); [|lia]. rewrite Rmult_assoc, <- exp_plus. do 2 f_equal.
          rewrite plus_IZR, mult_IZR. field. lra.
        * intros j. apply unit_at_z.
        * intros x. rewrite (total_ext _ (fun j => if (x =? Zpos s * y + j)%Z then 1 else 0)).
          { rewrite pick. destruct (_ && _); lra. }
          intros j _. unfold at_z. rewrite Z.eqb_sym. reflexivity.
      + intros x. rewrite E_Ret. rewrite (total_ext _ (fun j => if (x =? Zpos s * y + j)%Z then 1 else 0)).
        * rewrite pick, positive_nat_Z. unfold at_z. pose proof (Z.div_mod x (Zpos s) ltac:(lia)). pose proof (Z.mod_pos_bound x (Zpos s) ltac:(lia)).
          destruct (Z.eqb_spec y (x / Zpos s)), (Z.leb_spec (Zpos s * y) x), (Z.ltb_spec x (Zpos s * y + Zpos s)); simpl; (reflexivity || nia).
        * intros j _. unfold at_z. rewrite Z.eqb_sym. reflexivity.
    - apply stage_none.
      + intros x. apply E_unit, unit_at_z.
      + intros x Hx. rewrite E_Ret. unfold at_z. assert (0 <= x / Zpos s)%Z by (apply Z.div_pos; lia).
        destruct (Z.eqb_spec y (x / Zpos s)); [lia | reflexivity].
  Qed.

  Corollary geometric_is : exists c, 0 < c /\ forall y, E geometric (at_z y) =
    if (0 <=? y)%Z then c * exp (- (IZR y / (IZR (Zpos t) / IZR (Zpos s)))) else 0.
  Proof.
    exists c2. split; [exact c2_pos|]. intros y. rewrite geometric_law. destruct (0 <=? y)%Z; [|reflexivity].
    replace (IZR y / (IZR (Zpos t) / IZR (Zpos s))) with (IZR y * IZR (Zpos s) / T); [reflexivity|].
    assert (Hd : forall x a b, a <> 0 -> b <> 0 -> x * b / a = x / (a / b)) by (intros; field; auto).
    apply Hd; apply not_0_IZR; lia.
  Qed.

  Lemma laplace_attempt_law z : E laplace_attempt (is_y z) = c2 / 2 * exp (- (IZR (Z.abs z) * IZR (Zpos s) / T)).
  Proof.
    unfold laplace_attempt. rewrite E_bind by apply unit_is_y.
    pose (k := fun y => E (Flip (fun negative : bool => Ret (if negative then (if (y =? 0)%Z then None else Some (- y)%Z) else Some y))) (is_y z)).
    fold k. assert (Hk : forall y, (0 <= y)%Z -> k y = / 2 * at_z (Z.abs z) y).
    { intros y Hy. unfold k. rewrite E_Flip, !E_Ret by apply unit_is_y. unfold is_y, at_z.
      destruct (Z.eqb_spec y 0) as [->|Hy0]; cbn [some].
      - destruct (Z.eqb_spec z 0), (Z.eqb_spec (Z.abs z) 0); (lia || lra).
      - destruct (Z.eqb_spec z (- y)), (Z.eqb_spec z y), (Z.eqb_spec (Z.abs z) y); (lia || lra). }
    assert (Uk : unit_f k) by (intros y; apply E_unit, unit_is_y).
    unfold geometric. rewrite E_bind by exact Uk.
    rewrite (stage_agree _ (fun x => / 2 * E (Ret (x / Zpos s)%Z) (at_z (Z.abs z)))).
    - rewrite E_scal by (intros x; apply E_unit, unit_at_z).
      rewrite <- (E_bind stage (fun x => Ret (x / Zpos s)%Z)) by apply unit_at_z. fold geometric. rewrite geometric_law.
      destruct (Z.leb_spec 0 (Z.abs z)); [field; pose proof T_pos; lra | lia].
    - intros x. now apply E_unit.
    - intros x. pose proof (E_unit (Ret (x / Zpos s)%Z) (at_z (Z.abs z)) (unit_at_z _)). lra.
    - intros x Hx. rewrite !E_Ret. apply Hk. apply Z.div_pos; lia.
  Qed.

  (* Algorithm 2 *)
  Theorem laplace_law : has_law (fun z => exp (- (IZR (Z.abs z) * IZR (Zpos s) / IZR (Zpos t)))) laplace.
  Proof.
    apply (again_has_law _ _ (c2 / 2)).
    - pose proof c2_pos. lra.
    - intros y. apply exp_pos.
    - apply bind_ends; [apply bind_ends; [apply stage_ends | intros x; now rewrite E_Ret]|]. intros y.
      rewrite E_Flip by apply unit_one. rewrite !E_Ret. lra.
    - apply laplace_attempt_law.
  Qed.
End Laplace.

(* ---- the discrete Laplace around f = n/d, no integer, -1/2 <= f <= 1/2 (shifted_laplace, big.c): first the side
   of the centre, then the distance ---- *)
Section Shifted.
  Variables (t s d : positive) (n : Z).
  Hypothesis n_not_zero : n <> 0%Z.
  Hypothesis n_small : (2 * Z.abs n <= Zpos d)%Z.
  (* exp(-(1 - 2 abs(f)) s/t) weighs the side across the centre *)
  Definition side_attempt : tree (option bool) :=
    Flip (fun far : bool => if far
      then bind (bernoulli_exp ((Zpos d - 2 * Z.abs n) * Zpos s) (d * t)) (fun keep : bool => Ret (if keep then Some true else None))
      else Ret (Some false)).
  Definition shifted_laplace : tree Z :=
    bind (again side_attempt) (fun far : bool => bind (geometric t s) (fun y =>
      Ret (let v := if far then (y + 1)%Z else y in if Bool.eqb far (n <? 0)%Z then (- v)%Z else v))).

  Let scale := IZR (Zpos t) / IZR (Zpos s).
  Let f := IZR n / IZR (Zpos d).
  Let e := exp (- ((1 - 2 * Rabs f) / scale)).
  Lemma t_s_d : 0 < IZR (Zpos t) /\ 0 < IZR (Zpos s) /\ 0 < IZR (Zpos d).
  Proof. repeat split; apply IZR_lt; lia. Qed.
  Lemma abs_f : Rabs f = IZR (Z.abs n) / IZR (Zpos d).
  Proof.
    destruct t_s_d as (_ & _ & Hd). unfold f, Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ _)) by (apply Rlt_le, Rinv_0_lt_compat; lra).
    now rewrite abs_IZR.
  Qed.
  Lemma keep_law : coin (bernoulli_exp ((Zpos d - 2 * Z.abs n) * Zpos s) (d * t)) e.
  Proof.
    destruct t_s_d as (Ht & Hs & Hd). unfold e.
    replace ((1 - 2 * Rabs f) / scale) with (IZR ((Zpos d - 2 * Z.abs n) * Zpos s) / IZR (Zpos (d * t))).
    - apply bernoulli_exp_law. nia.
    - rewrite abs_f. unfold scale. rewrite Pos2Z.inj_mul, !mult_IZR, minus_IZR, mult_IZR. field. lra.
  Qed.
  Lemma side_E g : unit_f g -> E side_attempt g = (e * g (Some true) + (1 - e) * g None + g (Some false)) / 2.
  Proof.
    intros Hg. unfold side_attempt. rewrite E_Flip by exact Hg. rewrite E_bind by exact Hg.
    rewrite (coin_E _ _ _ keep_law) by (intros b; now apply E_unit). now rewrite !E_Ret.
  Qed.
  Lemma e_pos : 0 < e. Proof. apply exp_pos. Qed.
  Lemma far_law g : unit_f g -> E (again side_attempt) g = (e * g true + g false) / (1 + e).
  Proof.
    intros Hg. pose proof e_pos. rewrite again_law.
    - pose proof (side_E (some g) (unit_some _ Hg)) as A. pose proof (side_E (some (fun _ => 1)) (unit_some _ unit_one)) as B.
      cbn [some] in A, B. rewrite A, B.
      replace ((e * g true + (1 - e) * 0 + g false) / 2) with ((e * g true + g false) / 2) by (f_equal; ring).
      replace ((e * 1 + (1 - e) * 0 + 1) / 2) with ((1 + e) / 2) by (f_equal; ring).
      set (x := e * g true + g false). field. lra.
    - exact Hg.
    - rewrite side_E by apply unit_one. field.
    - rewrite side_E by apply unit_some, unit_one. cbn [some]. lra.
  Qed.

  Theorem shifted_laplace_law : has_law (fun z => exp (- (Rabs (IZR z - f) / scale))) shifted_laplace.
  Proof.
    destruct t_s_d as (Ht & Hs & Hd). pose proof e_pos as He. destruct (geometric_is t s) as (c & Hc & Hgeo).
    fold scale in Hgeo. assert (Hscale : 0 < scale) by (apply Rdiv_lt_0_compat; lra).
    assert (Hf : 0 < Rabs f <= / 2).
    { rewrite abs_f. assert (0 < IZR (Z.abs n)) by (apply IZR_lt; lia). split; [apply Rdiv_lt_0_compat; lra|].
      apply Rle_div_l; [lra|]. pose proof n_small as Hn. apply IZR_le in Hn. rewrite mult_IZR in Hn. lra. }
    assert (Hsign : if (n <? 0)%Z then f = - Rabs f else f = Rabs f).
    { destruct (Z.ltb_spec n 0) as [Hn|Hn].
      - rewrite Rabs_left; [ring|]. apply IZR_lt in Hn. unfold f, Rdiv. assert (0 < / IZR (Zpos d)) by (apply Rinv_0_lt_compat; lra). nra.
      - rewrite Rabs_pos_eq; [reflexivity|]. apply IZR_le in Hn. unfold f. apply Rdiv_le_0_compat; lra. }
    set (a := Rabs f) in *.
    (* z on the centre's own side, or 0; then z on the other side *)
    assert (Near : forall z y, IZR y = Rabs (IZR z - f) - a -> (0 <= y)%Z ->
      c * exp (- (IZR y / scale)) / (1 + e) = c / (1 + e) * exp (a / scale) * exp (- (Rabs (IZR z - f) / scale))).
    { intros z y Hy _. rewrite Hy.
      replace (exp (- ((Rabs (IZR z - f) - a) / scale))) with (exp (a / scale) * exp (- (Rabs (IZR z - f) / scale))); [field; lra|].
      rewrite <- exp_plus. f_equal. field. lra. }
    assert (Far : forall z y, IZR y = Rabs (IZR z - f) + a - 1 -> (0 <= y)%Z ->
      e * (c * exp (- (IZR y / scale))) / (1 + e) = c / (1 + e) * exp (a / scale) * exp (- (Rabs (IZR z - f) / scale))).
    { intros z y Hy _. rewrite Hy.
      replace (e * (c * exp (- ((Rabs (IZR z - f) + a - 1) / scale)))) with (c * (exp (a / scale) * exp (- (Rabs (IZR z - f) / scale)))); [field; lra|].
      replace (e * (c * exp (- ((Rabs (IZR z - f) + a - 1) / scale)))) with (c * (e * exp (- ((Rabs (IZR z - f) + a - 1) / scale)))) by ring.
      f_equal. unfold e. fold a. rewrite <- !exp_plus. f_equal. field. lra. }
    apply (directly_has_law _ _ (c / (1 + e) * exp (a / scale))).
    - apply Rmult_lt_0_compat; [apply Rdiv_lt_0_compat; lra | apply exp_pos].
    - intros z. apply exp_pos.
    - apply bind_ends; [rewrite far_law by apply unit_one; field; lra|]. intros far. apply bind_ends; [|intros y; now rewrite E_Ret].
      apply bind_ends; [apply stage_ends | intros x; now rewrite E_Ret].
    - intros z. unfold shifted_laplace. rewrite E_bind by apply unit_at_z. rewrite far_law by (intros b; apply E_unit, unit_at_z).
      rewrite !E_bind by apply unit_at_z.
      destruct (Z.ltb_spec n 0) as [Hn|Hn]; cbn [Bool.eqb].
      + rewrite (E_ext _ (fun y => E (Ret (- (y + 1))%Z) (at_z z)) (at_z (- z - 1))).
        2: { intros y. rewrite E_Ret. unfold at_z. destruct (Z.eqb_spec z (- (y + 1))), (Z.eqb_spec (- z - 1) y); (reflexivity || lia). }
        rewrite (E_ext _ (fun y => E (Ret y) (at_z z)) (at_z z)) by (intros y; now rewrite E_Ret). rewrite !Hgeo.
        destruct (Z.leb_spec 0 (- z - 1)) as [Hz|Hz], (Z.leb_spec 0 z) as [Hz'|Hz']; try lia.
        * rewrite Rplus_0_r. apply Far; [|exact Hz]. apply IZR_le in Hz. rewrite minus_IZR, opp_IZR in *. rewrite (Rabs_left1 (IZR z - f)) by lra. lra.
        * rewrite Rmult_0_r, Rplus_0_l. apply Near; [|exact Hz']. apply IZR_le in Hz'. rewrite (Rabs_pos_eq (IZR z - f)) by lra. lra.
      + rewrite (E_ext _ (fun y => E (Ret (y + 1)%Z) (at_z z)) (at_z (z - 1))).
        2: { intros y. rewrite E_Ret. unfold at_z. destruct (Z.eqb_spec z (y + 1)), (Z.eqb_spec (z - 1) y); (reflexivity || lia). }
        rewrite (E_ext _ (fun y => E (Ret (- y)%Z) (at_z z)) (at_z (- z))).
        2: { intros y. rewrite E_Ret. unfold at_z. destruct (Z.eqb_spec z (- y)), (Z.eqb_spec (- z) y); (reflexivity || lia). }
        rewrite !Hgeo. destruct (Z.leb_spec 0 (z - 1)) as [Hz|Hz], (Z.leb_spec 0 (- z)) as [Hz'|Hz']; try lia.
        * rewrite Rplus_0_r. apply Far; [|exact Hz]. apply IZR_le in Hz. rewrite minus_IZR in *. rewrite (Rabs_pos_eq (IZR z - f)) by lra. lra.
        * rewrite Rmult_0_r, Rplus_0_l. apply Near; [|exact Hz']. apply IZR_le in Hz'. rewrite opp_IZR in *. rewrite (Rabs_left1 (IZR z - f)) by lra. lra.
  Qed.
End Shifted.

(* ---- Algorithm 3: y of the discrete Laplace of scale t, accepted with exp(-num y/den) ---- *)
Section Gaussian.
  Variables (t den : positive) (num : Z -> Z) (sigma2 f m : R).
  Hypothesis num_pos : forall y, (0 <= num y)%Z.
  Hypothesis acceptance : forall y,
    IZR (num y) / IZR (Zpos den) = (IZR y - f) ^ 2 / (2 * sigma2) - IZR (Z.abs y) / IZR (Zpos t) + m.
  Definition gaussian_attempt : tree (option Z) :=
    bind (laplace t 1) (fun y => bind (bernoulli_exp (num y) den) (fun b : bool => Ret (if b then Some y else None))).
  Definition gaussian : tree Z := again gaussian_attempt.

  Theorem gaussian_law : has_law (fun y => exp (- ((IZR y - f) ^ 2 / (2 * sigma2)))) gaussian.
  Proof.
    destruct (laplace_law t 1) as (total & L1 & L2 & L3 & L4).
    apply (again_has_law _ _ (exp (- m) / total)).
    - apply Rdiv_lt_0_compat; [apply exp_pos | exact L2].
    - intros y. apply exp_pos.
    - apply bind_ends; [exact L4|]. intros y. apply bind_ends; [exact (coin_ends _ _ (bernoulli_exp_law _ _ (num_pos y)))|].
      intros b. now rewrite E_Ret.
    - intros z. unfold gaussian_attempt. rewrite E_bind by apply unit_is_y.
      rewrite (E_ext _ _ (fun y => exp (- (IZR (num z) / IZR (Zpos den))) * at_z z y)).
      + rewrite E_scal by apply unit_at_z. rewrite L3, acceptance.
        replace (exp (- ((IZR z - f) ^ 2 / (2 * sigma2) - IZR (Z.abs z) / IZR (Zpos t) + m)))
          with (exp (- ((IZR z - f) ^ 2 / (2 * sigma2))) * exp (IZR (Z.abs z) / IZR (Zpos t)) * exp (- m)) by (rewrite <- !exp_plus; f_equal; ring).
        replace (exp (- (IZR (Z.abs z) * 1 / IZR (Zpos t)))) with (/ exp (IZR (Z.abs z) / IZR (Zpos t))).
        * field. split; [lra | apply Rgt_not_eq, exp_pos].
        * rewrite <- exp_Ropp. f_equal. field. apply not_0_IZR. lia.
      + intros y. rewrite E_bind by apply unit_is_y. rewrite (coin_E _ _ _ (bernoulli_exp_law _ _ (num_pos y))) by (intros b; apply E_unit, unit_is_y).
        rewrite !E_Ret. unfold is_y. cbn [some]. unfold at_z. destruct (Z.eqb_spec z y) as [<-|]; ring.
  Qed.
End Gaussian.

(* as law.c computes it: sigma2 = p/q, centre f = n/d, for any M with which N is nowhere negative *)
Section Constants.
  Variables (p q d t : positive) (n M : Z).
  Definition N (y : Z) : Z := ((y * Zpos d - n) * (y * Zpos d - n) * (Zpos q * Zpos t) - 2 * Zpos p * (Zpos d * Zpos d) * Z.abs y - M)%Z.
  Definition D : positive := (2 * p * (d * d) * t)%positive.
  Hypothesis N_pos : forall y, (0 <= N y)%Z.
  Theorem algorithm_3 : has_law (fun y => exp (- ((IZR y - IZR n / IZR (Zpos d)) ^ 2 / (2 * (IZR (Zpos p) / IZR (Zpos q)))))) (gaussian t D N).
  Proof.
    assert (Hp : IZR (Zpos p) <> 0) by (apply not_0_IZR; lia). assert (Hq : IZR (Zpos q) <> 0) by (apply not_0_IZR; lia).
    assert (Hd : IZR (Zpos d) <> 0) by (apply not_0_IZR; lia). assert (Ht : IZR (Zpos t) <> 0) by (apply not_0_IZR; lia).
    apply (gaussian_law t D N _ _ (- (IZR M / IZR (Zpos D)))); [exact N_pos|].
    - intros y. unfold N, D. rewrite !Pos2Z.inj_mul, !minus_IZR, !mult_IZR, !minus_IZR, !mult_IZR. field. auto.
  Qed.
End Constants.

(* the paper's acceptance, around 0: the square of |y| q t - p *)
Theorem algorithm_3_centred (p q t : positive) :
  has_law (fun y => exp (- ((IZR y - 0) ^ 2 / (2 * (IZR (Zpos p) / IZR (Zpos q))))))
    (gaussian t (2 * p * q * (t * t)) (fun y => (Z.abs y * (Zpos q * Zpos t) - Zpos p) * (Z.abs y * (Zpos q * Zpos t) - Zpos p))%Z).
Proof.
  assert (Hp : IZR (Zpos p) <> 0) by (apply not_0_IZR; lia). assert (Hq : IZR (Zpos q) <> 0) by (apply not_0_IZR; lia).
  assert (Ht : IZR (Zpos t) <> 0) by (apply not_0_IZR; lia).
  apply (gaussian_law t _ _ _ _ (IZR (Zpos p) / (2 * IZR (Zpos q) * IZR (Zpos t) * IZR (Zpos t)))).
  - intros y. apply Z.square_nonneg.
  - intros y. rewrite !Pos2Z.inj_mul, !mult_IZR, !minus_IZR, !mult_IZR.
    replace ((IZR y - 0) ^ 2) with (IZR (Z.abs y) * IZR (Z.abs y)).
    + field. auto.
    + rewrite <- mult_IZR, <- Z.abs_mul, Z.abs_eq by (apply Z.square_nonneg). rewrite mult_IZR. ring.
Qed.
End Code.

(* not vacuous: examples with the coins and numbers above *)
Definition draw_laplace : positive -> positive -> tree Z := laplace bernoulli uniform.
Theorem draw_laplace_law t s : has_law (fun z => exp (- (IZR (Z.abs z) * IZR (Zpos s) / IZR (Zpos t)))) (draw_laplace t s).
Proof. apply laplace_law; [apply bernoulli_law | apply uniform_law]. Qed.
