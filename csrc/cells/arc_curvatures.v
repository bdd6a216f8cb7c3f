(* What arc_curvatures.gappa assumes: the lesser of phi'' at two ends, times their distance, is at most what phi' grows
   by, phi'' being monotonic. *)
Lemma lesser (first second : R -> R) near far :
  (near < far)%R -> (forall t, near <= t <= far -> is_derive first t (second t))%R ->
  (forall s t, near <= s <= t -> t <= far -> second s <= second t)%R
    \/ (forall s t, near <= s <= t -> t <= far -> second t <= second s)%R ->
  (Rmin (second near) (second far) * (far - near) <= first far - first near)%R.
Proof.
  intros L D M.
  destruct (MVT_gen first near far second) as [c [C E]].
  - intros t T. rewrite Rmin_left, Rmax_right in T by lra. apply D. lra.
  - intros t T. rewrite Rmin_left, Rmax_right in T by lra.
    apply continuity_pt_filterlim. apply (ex_derive_continuous first). exists (second t). apply D. lra.
  - rewrite Rmin_left, Rmax_right in C by lra. rewrite E. apply Rmult_le_compat_r; [lra |].
    destruct M as [M | M].
    + apply Rle_trans with (second near); [apply Rmin_l | apply M; lra].
    + apply Rle_trans with (second far); [apply Rmin_r | apply M; lra].
Qed.

Theorem assumed :
  (2 <= _x <= 2^60)%R -> (0 <= _lower <= 16)%R -> (-1 / 2^47 <= _of_v <= 1 / 2^47)%R ->
  (-1 / 2^60 <= _of_x <= 1 / 2^60)%R -> (0 <= _E <= 39)%R -> (-1 / 2^58 <= _of_tail <= 1 / 2^58)%R ->
  (0 <= _low <= 1 / 2^21)%R -> (0 <= _high <= 16)%R -> hypotheses.
Proof. intros. opened. Qed.
