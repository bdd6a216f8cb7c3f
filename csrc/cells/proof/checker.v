(* A whole table, checked by computation: `ok stages l t = true` implies that the draws of table t have law l exactly.

   Facts 1, 2, 4 and 5 of PROOF.md are checked here. Fact 3 is what arcs.v checks: here the arcs are any that keep
   lemma 9's contract, and the bounds of refinements any that hold and get narrow (MPFR's: lemma 12). *)
From Coq Require Import Reals Lra Lia ZArith List Bool.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Float.Basic Float.Sig.
From DG.exact Require Import programs laws.
From DG.cells Require Import compare table rows law enclose.
Import ListNotations.
Open Scope R_scope.

(* vm_compute evaluates both sides of && *)
Notation "a &&& b" := (if a then b else false) (at level 40, left associativity).
Lemma both_true (a b : bool) : a &&& b = true -> a = true /\ b = true.
Proof. now destruct a. Qed.

Record table := { places : layout; height : Z; tick_bits : nat; rest_bits : nat }.

Definition word_bits := 64%nat.
Definition height_bits := 16%nat.

Section Statement.
  Variables (l : law) (t : table).
  (* 2^i H g(y) - m, which is compared with f' *)
  Definition asked (i : nat) (y : Z) (m : nat) : R := 2 ^ i * (IZR (height t) * g l y) - INR m.

  (* v and error of the arc for (i, y, m), and the bounds at precision number j for n bits *)
  Record decider := {
    v_of : nat -> Z -> nat -> Z; error_of : nat -> Z -> nat -> Z;
    lower : nat -> Z -> nat -> nat -> nat -> Z; upper : nat -> Z -> nat -> nat -> nat -> Z }.
  Definition bounds_right (c : decider) : Prop := forall i y m,
    (forall j n, IZR (lower c i y m j n) <= 2 ^ n * asked i y m <= IZR (upper c i y m j n)) /\
    (forall n, exists j0, forall j, (j0 <= j)%nat -> (upper c i y m j n - lower c i y m j n <= 2)%Z).
  Definition arcs_right (c : decider) : Prop := forall i y m,
    arc_says (asked i y m) height_bits (v_of c i y m) (error_of c i y m).

  Definition draws (c : decider) : tree Z :=
    draw_read (row_bits (places t)) (tick_bits t) (rest_bits t) height_bits (tail_bits (places t))
      (first_block (places t)) (count (places t)) (look (places t))
      (fun i y m F => compare word_bits (lower c i y m) (upper c i y m) height_bits (v_of c i y m) (error_of c i y m) F).
End Statement.

(* not vacuous: any table has a decider whose bounds are right and whose arcs say nothing *)
Definition some_decider (l : law) (t : table) : decider :=
  {| v_of := fun _ _ _ => 1%Z; error_of := fun _ _ _ => 65535%Z;
     lower := fun i y m => floor (asked l t i y m); upper := fun i y m => ceiling (asked l t i y m) |}.
Lemma unknown_arc_says x : arc_says x height_bits 1 65535.
Proof.
  unfold arc_says, bounded, height_bits. change (1 - 65535)%Z with (-65534)%Z. change (1 + 65535)%Z with 65536%Z. assert (0 < 2 ^ 16) by (apply pow_lt; lra).
  replace (2 ^ 16) with 65536 in * by ring. unfold Rmin, Rmax. repeat destruct Rle_dec; lra.
Qed.
Lemma some_decider_right l t : bounds_right l t (some_decider l t) /\ arcs_right l t (some_decider l t).
Proof.
  split; intros i y m; [split|].
  - intros j n. apply oracle_holds.
  - intros n. apply oracle_narrow.
  - apply unknown_arc_says.
Qed.

Module Checker (F : FloatOps with Definition radix := Zaux.radix2 with Definition sensible_format := true).
  Module N := Enclose F.

  Section Check.
  Variables (l : law) (t : table).
  Let p := places t.
  Definition block_bits : nat := (tick_bits t + rest_bits t)%nat.
  Definition wide : Z := w block_bits.
  Definition tail_wide : Z := W block_bits (tail_bits p).
  Definition after : Z := last1 (first_block p) (count p).

  (* a question is put at one precision after the other *)
  Definition stage : Type := F.precision * N.I.type.
  Definition stages (precisions : list F.precision) : list stage := map (fun q => (q, N.phi_zero_at q l)) precisions.
  Fixpoint certain (at_ : list stage) (question : F.precision -> N.I.type -> bool) : bool :=
    match at_ with
    | [] => false
    | (q, P0) :: at_ => if question q P0 then true else certain at_ question (* vm_compute evaluates both sides of || *)
    end.

  Definition near j := if (0 <=? j)%Z then (j * wide)%Z else (j * wide + wide - 1)%Z.
  Definition far j := if (0 <=? j)%Z then (j * wide + wide - 1)%Z else (j * wide)%Z.
  Definition block_ok (at_ : list stage) (j f n : Z) : bool :=
    (if (height t <=? n)%Z then true else certain at_ (fun q P0 => N.below q l P0 (height t) (near j) n)) &&&
    (if (f =? 0)%Z then true else certain at_ (fun q P0 => N.above q l P0 (height t) (far j) f)).
  Fixpoint blocks_ok (at_ : list stage) (j : Z) (core : list (Z * Z)) : bool :=
    match core with [] => true | (f, n) :: core => block_ok at_ j f n &&& blocks_ok at_ (j + 1) core end.

  Definition tail_ok (at_ : list stage) (side : bool) : bool :=
    let start := if side then (after * wide)%Z else (first_block p * wide - 1)%Z in
    let next := if side then (start + tail_wide)%Z else (start + - tail_wide)%Z in
    certain at_ (fun q P0 => N.below q l P0 (height t) start 1) &&& certain at_ (fun q _ => N.halves q l start next).

  Definition ok (precisions : list F.precision) : bool :=
    let at_ := stages precisions in
    valid l &&& (1 <=? height t)%Z &&& in_core p 0 &&& layout_ok p
    &&& tail_ok at_ true &&& tail_ok at_ false &&& blocks_ok at_ (first_block p) (core p).

  (* ---- proofs ---- *)
  Hypothesis is_valid : valid l = true.
  Hypothesis height_pos : (1 <= height t)%Z.
  Hypothesis zero_in : in_core p 0 = true.
  Hypothesis laid : layout_ok p = true.
  Variable at_ : list stage.
  Hypothesis stages_right : forall s, In s at_ -> N.holds (snd s) (phi l (r l 0)).

  Lemma certain_right question (P : Prop) : (forall q P0, N.holds P0 (phi l (r l 0)) -> question q P0 = true -> P) ->
    certain at_ question = true -> P.
  Proof.
    intros H. revert stages_right. induction at_ as [|[q P0] rest IH]; intros Hs Hc; simpl in Hc; [discriminate|].
    destruct (question q P0) eqn:Hq; [exact (H q P0 (Hs (q, P0) (or_introl eq_refl)) Hq)|].
    apply IH; [intros x Hx; apply Hs; now right | exact Hc].
  Qed.

  Lemma wide_pos : (0 < wide)%Z. Proof. apply w_pos. Qed.
  Lemma H_pos : 0 < IZR (height t). Proof. apply IZR_lt. lia. Qed.
  Lemma zero_is : (first_block p <= 0 < after)%Z.
  Proof. pose proof zero_in as H. unfold in_core in H. rewrite andb_true_iff, Z.leb_le, Z.ltb_lt in H. exact H. Qed.

  Lemma block_right j f n y : block_ok at_ j f n = true -> (y / wide = j)%Z -> IZR f <= IZR (height t) * g l y <= IZR n.
  Proof.
    intros H Hy. unfold block_ok in H. apply both_true in H as [Hn Hfull].
    pose proof wide_pos as Hw. pose proof H_pos as Hh. pose proof (g_pos l y) as Hg.
    assert (Hm : (j * wide <= y < j * wide + wide)%Z).
    { subst j. pose proof (Z.div_mod y wide ltac:(lia)). pose proof (Z.mod_pos_bound y wide ltac:(lia)). nia. }
    assert (Hnf : (dist l (near j) <= dist l y <= dist l (far j))%Z).
    { unfold near, far. destruct (Z.leb_spec 0 j); split; (apply dist_up; [exact is_valid | nia]) || (apply dist_down; [exact is_valid | nia]). }
    pose proof (g_falls l is_valid _ _ (proj1 Hnf)) as G1. pose proof (g_falls l is_valid _ _ (proj2 Hnf)) as G2. split.
    - destruct (Z.eqb_spec f 0) as [H0|_]; [|rename Hfull into Hc].
      + subst f. apply Rmult_le_pos; lra.
      + apply Rle_trans with (IZR (height t) * g l (far j)); [|apply Rmult_le_compat_l; lra].
        revert Hc. apply certain_right. intros q P0 HP. now apply N.above_right.
    - destruct (Z.leb_spec (height t) n) as [H0|_]; [|rename Hn into Hc].
      + apply IZR_le in H0. pose proof (g_at_most_one l is_valid y). apply Rle_trans with (IZR (height t) * 1); [|lra].
        apply Rmult_le_compat_l; lra.
      + apply Rle_trans with (IZR (height t) * g l (near j)); [apply Rmult_le_compat_l; lra|].
        revert Hc. apply certain_right. intros q P0 HP. now apply N.below_right.
  Qed.

  Lemma blocks_right core : forall j i, blocks_ok at_ j core = true -> (i < length core)%nat ->
    block_ok at_ (j + Z.of_nat i) (fst (nth i core (0, 0)%Z)) (snd (nth i core (0, 0)%Z)) = true.
  Proof.
    induction core as [|[f n] core IH]; intros j i H Hi; [simpl in Hi; lia|].
    simpl in H. apply both_true in H as [H1 H2]. destruct i as [|i].
    - simpl. now rewrite Z.add_0_r.
    - simpl nth. replace (j + Z.of_nat (S i))%Z with (j + 1 + Z.of_nat i)%Z by lia. apply IH; [exact H2|]. simpl in Hi. lia.
  Qed.

  Lemma F12_right : blocks_ok at_ (first_block p) (core p) = true ->
    forall y, (first_block p * wide <= y < after * wide)%Z ->
    INR (full p (y / wide)%Z) <= IZR (height t) * g l y <= INR (n p (y / wide)%Z).
  Proof.
    intros H y Hy. pose proof wide_pos. unfold after, last1 in Hy.
    pose proof (Z.div_mod y wide ltac:(lia)). pose proof (Z.mod_pos_bound y wide ltac:(lia)).
    assert (Hj : (first_block p <= y / wide < first_block p + Z.of_nat (count p))%Z) by nia.
    assert (Hlen : length (core p) = count p) by (unfold core, zs; now rewrite !map_length, seq_length).
    pose proof (blocks_right _ _ (Z.to_nat (y / wide - first_block p)) H ltac:(lia)) as Hb.
    replace (nth _ (core p) (0, 0)%Z) with (full_z p (y / wide), full_z p (y / wide) + partial_z p (y / wide))%Z in Hb.
    - apply block_right with (y := y) in Hb; [|rewrite Z2Nat.id by lia; lia]. simpl fst in Hb. simpl snd in Hb.
      pose proof laid as Hl. unfold layout_ok in Hl. rewrite !andb_true_iff in Hl. destruct Hl as [[[[[_ _] Hf] _] _] _].
      pose proof (full_nonneg_list p (fulls p) Hf (y / wide)%Z) as Hf0. fold (full_z p (y / wide)%Z) in Hf0.
      pose proof (partial_z_nonneg p (y / wide)) as Hn0.
      unfold full, n. rewrite !INR_IZR_INZ, !Z2Nat.id by lia. exact Hb.
    - unfold core. rewrite nth_zs by lia. rewrite Z2Nat.id by lia. replace (first_block p + (y / wide - first_block p))%Z with (y / wide)%Z by lia.
      reflexivity.
  Qed.

  Lemma F4_right : tail_ok at_ true = true -> tail_ok at_ false = true ->
    forall side i q x, (0 <= q < Z.of_nat (2 ^ tail_bits p))%Z -> (0 <= x < wide)%Z ->
    2 ^ i * (IZR (height t) * g l (tail_y block_bits (tail_bits p) (first_block p) (count p) side i q x)) <= 1.
  Proof.
    intros Ht Hf side i q x Hq Hx. pose proof wide_pos as Hw. pose proof (two_pow i) as H2. pose proof H_pos as Hh.
    assert (HW : (0 < tail_wide)%Z) by apply W_pos. pose proof zero_is as Hz.
    assert (Ho : (0 <= q * wide + x)%Z) by nia. unfold tail_y. fold wide tail_wide after.
    destruct side; [pose proof Ht as H3 | pose proof Hf as H3]; unfold tail_ok in H3; apply both_true in H3 as [Ha Hb].
    - apply (certain_right _ (IZR (height t) * g l (after * wide) <= IZR 1)) in Ha;
        [| intros e P0 HP; now apply N.below_right].
      apply (certain_right _ _ (fun e P0 _ => N.halves_right e l is_valid _ _)) in Hb.
      assert (Hs : (1 <= after * wide /\ 0 < tail_wide \/ after * wide <= -1 /\ tail_wide < 0)%Z) by (left; nia).
      refine (Rle_trans _ _ _ _ (tail_halves l is_valid _ (after * wide) tail_wide i Hh Hs Ha Hb)).
      apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_l; [lra|]. apply g_falls; [exact is_valid|]. apply dist_up; [exact is_valid|]. nia.
    - apply (certain_right _ (IZR (height t) * g l (first_block p * wide - 1) <= IZR 1)) in Ha;
        [| intros e P0 HP; now apply N.below_right].
      apply (certain_right _ _ (fun e P0 _ => N.halves_right e l is_valid _ _)) in Hb.
      assert (Hs : (1 <= first_block p * wide - 1 /\ 0 < - tail_wide \/ first_block p * wide - 1 <= -1 /\ - tail_wide < 0)%Z) by (right; nia).
      refine (Rle_trans _ _ _ _ (tail_halves l is_valid _ (first_block p * wide - 1) (- tail_wide) i Hh Hs Ha Hb)).
      apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_l; [lra|]. apply g_falls; [exact is_valid|]. apply dist_down; [exact is_valid|]. nia.
  Qed.
  End Check.

  Lemma look_ends q row : E (look q row) (fun _ => 1) = 1.
  Proof.
    unfold look. destruct (whole _ =? special_code)%Z; [|now rewrite E_Ret].
    apply bind_ends; [apply number_ends|]. intros x. now rewrite E_Ret.
  Qed.

  Theorem ok_right precisions l t : ok l t precisions = true ->
    forall c, bounds_right l t c -> arcs_right l t c -> has_law (weight l) (draws t c).
  Proof.
    intros H c Hb Ha. unfold ok in H. apply both_true in H as [H Hbl].
    apply both_true in H as [H Ht']. apply both_true in H as [H Ht]. apply both_true in H as [H Hl].
    apply both_true in H as [H Hz]. apply both_true in H as [Hv Hh].
    apply Z.leb_le in Hh.
    assert (Hs : forall s, In s (stages l precisions) -> N.holds (snd s) (phi l (r l 0))).
    { intros s Hs. unfold stages in Hs. rewrite in_map_iff in Hs. destruct Hs as (q & <- & _). now apply N.phi_zero_right. }
    set (at_ := stages l precisions) in *.
    assert (Hc : forall i y m, E (number height_bits) (fun F => E (compare word_bits (lower c i y m) (upper c i y m) height_bits
        (v_of c i y m) (error_of c i y m) F) yes) = clamp (asked l t i y m) /\
      forall F, E (compare word_bits (lower c i y m) (upper c i y m) height_bits (v_of c i y m) (error_of c i y m) F) (fun _ => 1) = 1).
    { intros i y m. destruct (Hb i y m) as [H1 H2]. apply compare_law; try assumption; [unfold word_bits; lia | apply Ha]. }
    assert (H0 : 0 < weight l 0) by apply exp_pos.
    apply (has_law_scal (g l) _ (weight l 0)); [exact H0 | intros y; rewrite g_weight; field; lra |].
    apply (read_law (row_bits (places t)) (tick_bits t) (rest_bits t) height_bits (tail_bits (places t)) (first_block (places t))
      (count (places t)) (look (places t))
      (fun i y m F => compare word_bits (lower c i y m) (upper c i y m) height_bits (v_of c i y m) (error_of c i y m) F)
      (n (places t)) (full (places t)) (rejects (places t)) (row_bits (places t) + position_bits (places t)) (IZR (height t)) (g l)).
    - apply IZR_lt. lia.
    - apply g_pos.
    - exact (F12_right l t Hv Hh Hl at_ Hs Hbl).
    - exact (F4_right l t Hv Hh Hz at_ Hs Ht Ht').
    - intros f Hf. now apply layout_right.
    - intros row. apply look_ends.
    - intros i y m. apply (Hc i y m).
    - intros i y m F. apply (Hc i y m).
  Qed.
End Checker.
