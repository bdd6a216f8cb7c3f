(* What lane_above.gappa assumes: Series is (exp(t) - 1 - t)/t; and how v 2^-v is bounded. *)
Lemma series t : (0 < t <= 1 / 2^13)%R -> (t / 2 <= (exp t - 1 - t) / t <= t / 2 + 1 / 2^27)%R.
Proof.
  intros T.
  assert (L : (1 - (1 + 0 + 0 * 0 / 2) * exp (- 0) <= 1 - (1 + t + t * t / 2) * exp (- t))%R).
  { apply (grows (fun t => 1 - (1 + t + t * t / 2) * exp (- t))%R (fun t => t * t / 2 * exp (- t))%R (1 / 2^13));
      [| | lra].
    - intros x X. auto_derive; [exact I |]. field.
    - intros x X. assert (0 < exp (- x))%R by apply exp_pos. nra. }
  assert (H : ((1 + 0 + 0 * 0 / 2 + 0 * 0 * 0 / 5) * exp (- 0) - 1
                 <= (1 + t + t * t / 2 + t * t * t / 5) * exp (- t) - 1)%R).
  { apply (grows (fun t => (1 + t + t * t / 2 + t * t * t / 5) * exp (- t) - 1)%R
      (fun t => t * t * (1 / 10 - t / 5) * exp (- t))%R (1 / 2^13)); [| | lra].
    - intros x X. auto_derive; [exact I |]. field.
    - intros x X. apply Rmult_le_pos; [| apply Rlt_le, exp_pos]. apply Rmult_le_pos; nra. }
  rewrite Ropp_0, exp_0, exp_Ropp in *. assert (E := exp_pos t).
  assert (L1 : (1 + t + t * t / 2 <= exp t)%R).
  { apply Rmult_le_reg_r with (/ exp t)%R; [apply Rinv_0_lt_compat; lra |]. rewrite Rinv_r by lra. lra. }
  assert (H1 : (exp t <= 1 + t + t * t / 2 + t * t * t / 5)%R).
  { apply Rmult_le_reg_r with (/ exp t)%R; [apply Rinv_0_lt_compat; lra |]. rewrite Rinv_r by lra. lra. }
  split; apply Rmult_le_reg_r with t; try lra;
    replace ((exp t - 1 - t) / t * t)%R with (exp t - 1 - t)%R by (field; lra); nra.
Qed.

(* exp(v ln 2 - 1) >= v ln 2 *)
Lemma falls v : (0 <= v)%R -> (v * exp (- (v * ln 2)) <= 1 / (exp 1 * ln 2))%R.
Proof.
  intros V. assert (A := exp_ineq1_le (v * ln 2 - 1)).
  assert (P := exp_pos 1). assert (Q := exp_pos (v * ln 2)).
  assert (L : (0 < ln 2)%R) by (rewrite <- ln_1; apply ln_increasing; lra).
  unfold Rminus in A. rewrite exp_plus, exp_Ropp in A. rewrite exp_Ropp.
  apply Rmult_le_reg_r with (exp 1 * ln 2 * exp (v * ln 2))%R;
    [apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat |]; lra |].
  replace (v * / exp (v * ln 2) * (exp 1 * ln 2 * exp (v * ln 2)))%R with (v * ln 2 * exp 1)%R by (field; lra).
  replace (1 / (exp 1 * ln 2) * (exp 1 * ln 2 * exp (v * ln 2)))%R with (exp (v * ln 2)) by (field; lra).
  apply Rmult_le_compat_r with (r := exp 1) in A; [| lra].
  rewrite Rmult_assoc, Rinv_l in A by lra. lra.
Qed.

Theorem assumed :
  _ln2 = ln 2 -> _euler = exp 1 -> (0 < _e <= 2^39)%R ->
  _Series = ((exp (_e / 2^52 * ln 2) - 1 - _e / 2^52 * ln 2) / (_e / 2^52 * ln 2))%R ->
  (0 <= _rho_far <= 128)%R -> (1 / 2^20 <= _r <= 1)%R -> (0 <= _errors <= 5)%R -> (0 <= _Root <= 2^30)%R ->
  (0 <= 12 / _r - _Root <= 2^30)%R -> (0 <= _AtF <= 2^30)%R -> (0 <= _AtFar - _AtF <= 2^30)%R ->
  (0 <= _Rho <= 2^30)%R -> (0 <= 128 / _r - _Rho <= 2^30)%R -> hypotheses.
Proof.
  intros L U E S. intros.
  assert (C : (0.69314718 <= ln 2 <= 0.69314719)%R) by (split; interval with (i_prec 60)).
  assert (D : (2.71828182 <= exp 1 <= 2.71828183)%R) by (split; interval with (i_prec 60)).
  assert (T : (0 < _e / 2^52 * ln 2 <= 1 / 2^13)%R) by nra.
  assert (Z := series _ T). rewrite <- S in Z. rewrite <- L in C, Z. rewrite <- U in D. clear S U L T. opened.
Qed.
