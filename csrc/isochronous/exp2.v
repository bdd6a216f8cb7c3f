(* What exp2.gappa assumes: Power is 2^-x. *)
Theorem assumed : (0 <= _any_x <= 1)%R -> _ln2 = ln 2 -> _Power = exp (- _T) -> hypotheses.
Proof.
  intros X L P.
  assert (C : (12786308645202655659 / 2^64 <= ln 2 <= (12786308645202655659 + 1) / 2^64)%R)
    by (split; interval with (i_prec 100)).
  assert (X0 := down_positive (-57) _any_x (proj1 X)).
  assert (X1 := down_below (-57) _any_x).
  assert (T0 : (0 <= _T <= ln 2)%R) by (rewrite L; nra).
  assert (T1 : (0 <= _T <= 0.6932)%R) by lra.
  assert (H : (1/2 <= _Power <= 1)%R).
  { rewrite P. split.
    - replace (1/2)%R with (exp (- ln 2)) by (rewrite exp_Ropp, exp_ln; lra).
      apply exp_le. lra.
    - rewrite <- exp_0. apply exp_le. lra. }
  opened; rewrite P; set (t := _T) in *; clearbody t; clear T0; interval with (i_bisect t, i_taylor t, i_degree 22, i_prec 150).
Qed.
