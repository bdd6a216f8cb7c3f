(* The assumptions of log.gappa: Exp is exp(-y), y within 2^-27 of log m, and Log1p is log(1 + D). *)
Theorem assumed y :
  (1 <= _m <= 2)%R -> (0 <= y)%R -> (-1 / 2^27 <= ln _m - y <= 1 / 2^27)%R -> _Exp = exp (- y) ->
  _Log1p = ln (1 + _D) -> (-512 / 2^127 <= _e - _Exp <= 512 / 2^127)%R ->
  (-1 / 2^126 <= _cut4 <= 1 / 2^126)%R -> (-1 / 2^126 <= _cut3 <= 1 / 2^126)%R ->
  (-1 / 2^126 <= _cut2 <= 1 / 2^126)%R -> (-1 / 2^126 <= _cut1 <= 1 / 2^126)%R -> hypotheses.
Proof.
  intros M Y Z E L R C4 C3 C2 C1.
  assert (M2 : (ln _m <= ln 2)%R) by (apply ln_le; lra).
  assert (L2 : (ln 2 <= 0.7)%R) by interval with (i_prec 60).
  assert (E1 : (0.4 <= _Exp <= 1)%R).
  { rewrite E. assert (X : (0 <= y <= 0.71)%R) by lra. clear - X. split; [interval with (i_prec 60) |].
    rewrite <- exp_0. apply exp_le. lra. }
  assert (D1 : (-1 / 2^26 <= _m * _Exp - 1 <= 1 / 2^26)%R).
  { replace (_m * _Exp)%R with (exp (ln _m - y))
      by (rewrite E; unfold Rminus; rewrite exp_plus, exp_ln; lra).
    set (z := (ln _m - y)%R) in *. clearbody z. clear - Z. interval with (i_taylor z, i_prec 80). }
  clear E Z Y M2 L2.
  opened; rewrite L; constants; set (d := (_m * _Exp - 1)%R) in *; clearbody d;
    interval with (i_taylor d, i_degree 8, i_prec 200).
Qed.
