(* A condition for a law on all integers: if each attempt returns y with a probability proportional to weight y,
   then attempts, repeated until one succeeds, have the law weight y / sum of all weights, and the sum is finite. *)
From Coq Require Import Reals Lra Lia ZArith List Bool.
From Coquelicot Require Import Coquelicot.
From DG.exact Require Import programs.
Open Scope R_scope.

Definition at_z (y z : Z) : R := if Z.eqb y z then 1 else 0.
Lemma unit_at_z y : unit_f (at_z y). Proof. intros z. unfold at_z. destruct Z.eqb; lra. Qed.
Definition is_y (y : Z) := some (at_z y).
Lemma unit_is_y y : unit_f (is_y y). Proof. apply unit_some, unit_at_z. Qed.

(* the sum over -k ... k *)
Fixpoint sum_g (g : Z -> R) (k : nat) : R :=
  match k with O => g 0%Z | S k' => sum_g g k' + (g (Z.of_nat k) + g (- Z.of_nat k)%Z) end.

(* the probabilities are weight / sum of weights, and the program ends almost surely *)
Definition has_law (weight : Z -> R) (p : tree Z) : Prop := exists total,
  is_lim_seq (sum_g weight) (Finite total) /\ 0 < total /\
  (forall y, E p (at_z y) = weight y / total) /\ E p (fun _ => 1) = 1.

Lemma sum_g_scal g c k : sum_g (fun y => c * g y) k = c * sum_g g k.
Proof. induction k as [|k IH]; cbn [sum_g]; [reflexivity|]. rewrite IH. ring. Qed.
Lemma sum_g_ext g h k : (forall y, g y = h y) -> sum_g g k = sum_g h k.
Proof. intros H. induction k as [|k IH]; cbn [sum_g]; rewrite ?IH, ?H; reflexivity. Qed.

(* a constant factor does not matter *)
Lemma has_law_scal g h c p : 0 < c -> (forall y, h y = c * g y) -> has_law g p -> has_law h p.
Proof.
  intros Hc He (total & L1 & L2 & L3 & L4). exists (c * total). repeat split.
  - apply (is_lim_seq_ext (fun k => c * sum_g g k)).
    + intros k. rewrite <- sum_g_scal. apply sum_g_ext. intros y. now rewrite He.
    + apply (is_lim_seq_scal_l _ _ (Finite total)). exact L1.
  - now apply Rmult_lt_0_compat.
  - intros y. rewrite L3, He. field. lra.
  - exact L4.
Qed.

Section Proportional.
  Variables (attempt : tree (option Z)) (weight : Z -> R) (c : R).
  Hypothesis c_pos : 0 < c.
  Hypothesis weight_pos : forall y, 0 < weight y.
  Hypothesis ends : E attempt (fun _ => 1) = 1.
  Hypothesis proportional : forall y, E attempt (is_y y) = c * weight y.

  Definition within (k : nat) (y : Z) : R := if (Z.abs y <=? Z.of_nat k)%Z then 1 else 0.
  Lemma unit_within k : unit_f (within k). Proof. intros y. unfold within. destruct Z.leb; lra. Qed.

  Lemma attempt_within k : E attempt (some (within k)) = c * sum_g weight k.
  Proof.
    induction k as [|k IH].
    - simpl sum_g. rewrite <- proportional. apply E_ext. intros [y|]; [|reflexivity]. simpl. unfold within, at_z.
      destruct (Z.leb_spec (Z.abs y) (Z.of_nat 0)), (Z.eqb_spec 0 y); (reflexivity || lia).
    - pose (two := fun o => 1 * is_y (Z.of_nat (S k)) o + 1 * is_y (- Z.of_nat (S k)) o).
      assert (Hu : unit_f two).
      { intros [y|]; unfold two, is_y; cbn [some]; unfold at_z; [|lra].
        destruct (Z.eqb_spec (Z.of_nat (S k)) y), (Z.eqb_spec (- Z.of_nat (S k)) y); try lra. lia. }
      rewrite (E_ext _ _ (fun o => 1 * some (within k) o + 1 * two o)).
      + rewrite E_lin by (try apply unit_some, unit_within; exact Hu). rewrite IH. unfold two.
        rewrite E_lin by apply unit_is_y. rewrite !proportional. cbn [sum_g]. ring.
      + intros [y|]; unfold two, is_y; cbn [some]; [|ring]. unfold within, at_z.
        destruct (Z.leb_spec (Z.abs y) (Z.of_nat (S k))), (Z.leb_spec (Z.abs y) (Z.of_nat k)),
          (Z.eqb_spec (Z.of_nat (S k)) y), (Z.eqb_spec (- Z.of_nat (S k)) y); (lia || lra).
  Qed.

  Lemma succeeds : 0 < E attempt (some (fun _ => 1)).
  Proof.
    apply Rlt_le_trans with (E attempt (is_y 0)).
    - rewrite proportional. apply Rmult_lt_0_compat; auto.
    - apply E_mono; [apply unit_is_y | apply unit_some, unit_one|]. intros [y|]; simpl; [apply unit_at_z | lra].
  Qed.

  Theorem again_has_law : has_law weight (again attempt).
  Proof.
    set (s := E attempt (some (fun _ => 1))). pose proof succeeds as Hs. fold s in Hs.
    exists (s / c). repeat split.
    - apply (is_lim_seq_ext (fun k => / c * E attempt (some (within k)))).
      { intros k. rewrite attempt_within. field. lra. }
      replace (s / c) with (/ c * s) by (field; lra).
      apply (is_lim_seq_scal_l _ _ (Finite s)). apply E_converges.
      + intros k. apply unit_some, unit_within.
      + apply unit_some, unit_one.
      + intros k [y|]; simpl; [|lra]. unfold within.
        destruct (Z.leb_spec (Z.abs y) (Z.of_nat k)), (Z.leb_spec (Z.abs y) (Z.of_nat (S k))); (lra || lia).
      + intros [y|]; simpl; [|apply is_lim_seq_const]. apply is_lim_seq_incr_n with (N := Z.to_nat (Z.abs y)).
        apply (is_lim_seq_ext (fun _ => 1)); [|apply is_lim_seq_const]. intros k. unfold within.
        destruct (Z.leb_spec (Z.abs y) (Z.of_nat (k + Z.to_nat (Z.abs y)))); [reflexivity | lia].
    - apply Rdiv_lt_0_compat; assumption.
    - intros y. rewrite again_law; [| apply unit_at_z | exact ends | exact Hs].
      fold (is_y y). rewrite proportional. fold s. field. split; lra.
    - apply again_ends; [exact ends | exact Hs].
  Qed.
End Proportional.

(* the same for a program that always returns a value *)
Theorem directly_has_law (p : tree Z) weight c : 0 < c -> (forall y, 0 < weight y) -> E p (fun _ => 1) = 1 ->
  (forall y, E p (at_z y) = c * weight y) -> has_law weight p.
Proof.
  intros Hc Hw H1 Hp. set (attempt := bind p (fun y => Ret (Some y))).
  assert (H : forall f, unit_f f -> E attempt (some f) = E p f).
  { intros f Hf. unfold attempt. rewrite E_bind by now apply unit_some. apply E_ext. intros y. now rewrite E_Ret. }
  assert (Ha : E attempt (fun _ => 1) = 1) by (apply bind_ends; [exact H1|]; intros y; now rewrite E_Ret).
  destruct (again_has_law attempt weight c Hc Hw Ha) as (total & L1 & L2 & L3 & L4).
  { intros y. unfold is_y. rewrite H by apply unit_at_z. apply Hp. }
  exists total. repeat split; try assumption. intros y. rewrite <- L3, again_law; try assumption; try apply unit_at_z.
  - rewrite !H by (apply unit_at_z || apply unit_one). rewrite H1. field.
  - rewrite H by apply unit_one. lra.
Qed.
