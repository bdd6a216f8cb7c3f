(* What arc_ends.gappa assumes: logs of levels are not small, and how a power changes with its base. *)
Lemma level H m : (1 <= m)%R -> (m + 1 <= H <= 65536)%R -> (1 / 2^16 < ln (H / m))%R.
Proof.
  intros M B. apply Rlt_le_trans with (ln (65536 / 65535)); [interval with (i_prec 60) |].
  apply ln_le; [lra |]. apply Rmult_le_reg_r with m; [lra |].
  replace (H / m * m)%R with H by (field; lra). nra.
Qed.

Lemma power a beta : (-1 / 2^20 <= a <= 1 / 2^20)%R -> (1 <= beta)%R ->
  (Rabs (exp (ln (1 + a) / beta) - 1) <= 1.001 * (Rabs a / beta))%R.
Proof.
  intros A B.
  assert (Q : (0 < / beta <= 1)%R).
  { split; [apply Rinv_0_lt_compat; lra |]. rewrite <- Rinv_1. apply Rinv_le_contravar; lra. }
  assert (L : (Rabs (ln (1 + a)) <= 1.0001 * Rabs a)%R).
  { assert (U := exp_ineq1_le (ln (1 + a))). rewrite exp_ln in U by lra.
    assert (V := exp_ineq1_le (- ln (1 + a))). rewrite exp_Ropp, exp_ln in V by lra.
    assert (I : (/ (1 + a) * (1 + a) = 1)%R) by (apply Rinv_l; lra).
    unfold Rabs; destruct (Rcase_abs (ln (1 + a))), (Rcase_abs a); nra. }
  set (l := (ln (1 + a) / beta)%R).
  assert (M : (Rabs l <= 1.0001 * (Rabs a / beta))%R).
  { unfold l, Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ beta)) by lra. nra. }
  assert (A1 : (0 <= Rabs a / beta <= 1 / 2^20)%R).
  { assert (0 <= Rabs a <= 1 / 2^20)%R by (unfold Rabs; destruct (Rcase_abs a); lra). unfold Rdiv. split; nra. }
  assert (X := exp_ineq1_le l). assert (Y := exp_ineq1_le (- l)).
  assert (I : (exp (- l) * exp l = 1)%R) by (rewrite <- exp_plus, Rplus_opp_l; apply exp_0).
  assert (P := exp_pos l). revert M. generalize dependent (Rabs a / beta)%R. intros r R M. clearbody l.
  clear - X Y I P M R.
  unfold Rabs in *; destruct (Rcase_abs l), (Rcase_abs (exp l - 1)); nra.
Qed.

Theorem assumed :
  (-1 / 2^114 <= _log_error <= 1 / 2^114)%R -> (1 / 2^16 <= _log_ratio <= 2^20)%R -> (0 <= _part <= 1)%R ->
  (1 <= _beta <= 2^33)%R -> (-1.5 / 2^104 <= _of_centre / _beta <= 1.5 / 2^104)%R ->
  (-1.5 / 2^104 <= _of_power <= 1.5 / 2^104)%R -> (-1 / 2^108 <= _of_exponent <= 1 / 2^108)%R ->
  (-1 / 2^124 <= _of_radius <= 1 / 2^124)%R -> hypotheses.
Proof. intros. opened. Qed.
