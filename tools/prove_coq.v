(* The head of each proof that Gappa writes (tools/prove_coq.py). *)
From Coq Require Import Reals Lra Lia Psatz Classical.
From Flocq Require Import Core.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
Require Import Gappa.Gappa_library.

(* A number that is rounded, and is not 0, becomes a variable. *)
Ltac named := repeat match goal with
  | H : ?x <> 0%R |- _ =>
      match x with context [rounding_fixed _ _ _] =>
        let z := fresh in set (z := x) in *; clearbody z
      end
  end.

Ltac constants := unfold Float1, float2R, float10R, F2R in *;
  cbn -[Rplus Rminus Rmult Rdiv Rinv Ropp Rle IZR round sqrt exp ln] in *.

Ltac nonzero := repeat split; try assumption; try (apply Rgt_not_eq; apply sqrt_lt_R0); try lra;
  try (let E := fresh in intro E; match goal with H : _ <> 0%R |- _ => apply H end; lra).

Ltac identity :=
  first [solve [ring] | solve [unfold Rdiv; ring] | solve [field; nonzero]].

(* A rewriting of a script: two terms that are equal wherever both are defined. *)
Ltac hint := intros; named; first [identity | constants; identity].

(* A bound as two inequalities. *)
Ltac bounds := unfold BND; cbn [lower upper]; constants.

(* The part that truncation at 2^e removes. *)
Lemma down_below e x : (rounding_fixed rndDN e x <= x)%R.
Proof. apply (round_DN_pt radix2 (FIX_exp e) x). Qed.

Lemma down_above e x : (x - bpow radix2 e < rounding_fixed rndDN e x)%R.
Proof.
  assert (H := error_lt_ulp_round radix2 (FIX_exp e) Zfloor x). rewrite ulp_FIX in H.
  destruct (Req_dec x 0) as [E | E].
  - rewrite E, round_0 by typeclasses eauto. assert (P := bpow_gt_0 radix2 e). lra.
  - specialize (H E). rewrite Rabs_left1 in H by (pose proof (down_below e x); lra). lra.
Qed.

Lemma down_positive e x : (0 <= x)%R -> (0 <= rounding_fixed rndDN e x)%R.
Proof. intros H. apply round_ge_generic; try typeclasses eauto; [apply generic_format_0 | exact H]. Qed.

(* A function that does not fall from 0 on is never below its start. *)
Lemma grows (f df : R -> R) b x :
  (forall t, 0 <= t <= b -> is_derive f t (df t))%R -> (forall t, 0 <= t <= b -> 0 <= df t)%R ->
  (0 <= x <= b)%R -> (f 0 <= f x)%R.
Proof.
  intros D P X.
  destruct (MVT_gen f 0 x df) as [c [C E]].
  - intros t T. rewrite Rmin_left, Rmax_right in T by lra. apply D. lra.
  - intros t T. rewrite Rmin_left, Rmax_right in T by lra.
    apply continuity_pt_filterlim. apply (ex_derive_continuous f). exists (df t). apply D. lra.
  - rewrite Rmin_left, Rmax_right in C by lra. assert (Q := P c ltac:(lra)). nra.
Qed.

(* log2(e) and log 2, truncated. *)
Lemma log2e_63 : (13306513097844322491 / 2^63 <= 1 / ln 2 <= (13306513097844322491 + 1) / 2^63)%R.
Proof. split; interval with (i_prec 150). Qed.
