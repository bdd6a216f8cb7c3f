(* Algorithms 1, 2 and 3 of Canonne, Kamath, Steinke (2020), as big.c and words.c have them: their laws, for all rational
   parameters, and that they end almost surely. *)
From Coq Require Import Reals Lra Lia ZArith List Bool Factorial.
From Coquelicot Require Import Coquelicot.
From DG.exact Require Import programs laws.
Import ListNotations.
Open Scope R_scope.

Definition yes (c : bool) : R := if c then 1 else 0.
Lemma unit_yes : unit_f yes. Proof. intros [|]; simpl; lra. Qed.

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

Lemma zs_in n z : In z (zs n) -> (0 <= z < Z.of_nat n)%Z.
Proof. unfold zs. rewrite in_map_iff. intros (k & <- & H). apply in_seq in H. lia. Qed.
Lemma total_zero {A} (f : A -> R) l : (forall a, In a l -> f a = 0) -> total f l = 0.
Proof. induction l as [|a l IH]; simpl; intros H; [reflexivity|]. rewrite (H a), IH; auto; lra. Qed.
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

(* ---- Algorithm 1 ---- *)
(* exp(-a/b), a <= b: von Neumann's coins of a/b, a/(2b), a/(3b) ... *)
Definition exp_step (a : Z) (b : positive) (k : positive) : tree (positive + bool) :=
  bind (bernoulli a (b * k)) (fun c : bool => Ret (if c then inl (Pos.succ k) else inr (Z.odd (Zpos k)))).
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
      + apply bernoulli_law. nia.
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

(* ---- how often a coin falls before it fails ---- *)
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
  Lemma runs_before i j : (j < i)%Z -> E (runs c i) (at_z j) = 0.
  Proof.
    intros H. pose proof (coin_unit _ _ Hc) as Hu. apply vanishes; [apply E_unit, unit_at_z|]. intros n. revert i H.
    induction n as [|n IH]; intros i H; [simpl; apply E_unit, unit_at_z|].
    rewrite runs_step by apply unit_at_z. specialize (IH (i + 1)%Z ltac:(lia)). unfold at_z at 2.
    destruct (Z.eqb_spec j i); [lia|]. simpl. nra.
  Qed.
  Theorem runs_law n : forall i, E (runs c i) (at_z (i + Z.of_nat n)) = (1 - p) * p ^ n.
  Proof.
    induction n as [|n IH]; intros i; rewrite runs_step by apply unit_at_z.
    - rewrite runs_before by lia. unfold at_z. rewrite Z.add_0_r, Z.eqb_refl. simpl. ring.
    - replace (i + Z.of_nat (S n))%Z with (i + 1 + Z.of_nat n)%Z by lia. rewrite IH. unfold at_z.
      destruct (Z.eqb_spec (i + 1 + Z.of_nat n) i); [lia|]. simpl. ring.
  Qed.
End Runs.
