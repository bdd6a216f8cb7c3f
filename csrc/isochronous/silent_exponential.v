(* What silent_exponential.gappa assumes: E and D are powers of e, and Rest is what the series of E leaves out. *)
Definition series (t : R) : R := (1 - t + t^2 / 2 - t^3 / 6 + t^4 / 24 - t^5 / 120)%R.

(* a polynomial times exp(t) changes as its sum with its derivative says, which is one term *)
Lemma series_below t : (0 <= t <= 0.35)%R -> (0 <= exp (- t) - series t <= 2.6e-6)%R.
Proof.
  intros T. split; [| unfold series; interval with (i_bisect t, i_taylor t, i_degree 10, i_prec 80)].
  assert (H : (1 - series 0 * exp 0 <= 1 - series t * exp t)%R).
  { apply (grows (fun t => 1 - series t * exp t)%R (fun t => t^5 / 120 * exp t)%R 0.35); [| | exact T].
    - intros s S. unfold series. auto_derive; [exact I |]. field.
    - intros s S. assert (0 < exp s)%R by apply exp_pos. assert (0 <= s^5)%R by (apply pow_le; lra). nra. }
  replace (series 0%R) with 1%R in H by (unfold series; field). rewrite exp_0 in H.
  assert (P := exp_pos t). rewrite exp_Ropp.
  assert (series t * exp t * / exp t <= 1 * / exp t)%R
    by (apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra | lra]).
  rewrite Rmult_assoc, Rinv_r in H0 by lra. lra.
Qed.

Lemma square_above t : (0 <= t <= 0.35)%R -> (exp (- t) <= 1 - t + t^2 / 2)%R.
Proof.
  intros T. assert (H : ((1 - 0 + 0^2 / 2) * exp 0 - 1 <= (1 - t + t^2 / 2) * exp t - 1)%R).
  { apply (grows (fun t => (1 - t + t^2 / 2) * exp t - 1)%R (fun t => t^2 / 2 * exp t)%R 0.35); [| | exact T].
    - intros s S. auto_derive; [exact I |]. field.
    - intros s S. assert (0 < exp s)%R by apply exp_pos. assert (0 <= s^2)%R by apply pow2_ge_0. nra. }
  rewrite exp_0 in H. assert (P := exp_pos t). rewrite exp_Ropp.
  assert (1 * / exp t <= (1 - t + t^2 / 2) * exp t * / exp t)%R
    by (apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra | lra]).
  rewrite Rmult_assoc, Rinv_r in H0 by lra. lra.
Qed.

Theorem assumed further :
  (0 <= _x <= 1)%R -> (0.1746 <= _h <= 0.35)%R -> (0 <= further <= 1 / 2^16)%R ->
  _Rest = (exp (- (_h * _x)) - (1 - _Y1))%R -> _D = exp (- (2 * _h * further)) ->
  (0 <= _A0 <= 1)%R -> (0 <= _base <= 1)%R -> (Rabs (_base - _A0) <= 1.02 / 2^16)%R -> hypotheses.
Proof.
  intros X H F R D A B C.
  assert (T : (0 <= _h * _x <= 0.35)%R) by nra.
  assert (S := series_below _ T). assert (Q := square_above _ T).
  assert (Y : (1 - _Y1 = series (_h * _x))%R) by (unfold series; constants; field).
  assert (E1 : (_E = exp (- (_h * _x)))%R) by (rewrite R; constants; ring).
  assert (P := exp_pos (- (_h * _x))).
  assert (R1 : (0 <= _Rest <= 2.6e-6)%R) by (rewrite R, Y; exact S).
  assert (E2 : (0 <= _E <= 1)%R) by (rewrite E1; split; [lra | rewrite <- exp_0; apply exp_le; lra]).
  assert (E3 : (0 <= _E + 0.159 * _x <= 1)%R).
  { split; [lra |]. rewrite E1. clear - Q X H.
    assert (K : (0 <= _h - 0.159 - _h^2 / 2)%R) by nra.
    assert (L : (_h^2 * _x <= _h^2)%R) by nra.
    assert (M : (0 <= _x * (_h - 0.159 - _h^2 * _x / 2))%R) by (apply Rmult_le_pos; lra). nra. }
  assert (D1 : (0.99998931 <= _D <= 1)%R).
  { rewrite D. assert (G := exp_ineq1_le (- (2 * _h * further))). split; [nra |].
    rewrite <- exp_0. apply exp_le. nra. }
  apply Rabs_le_inv in C. clear R D Y E1 S Q P. opened.
Qed.
