(* The assumptions of log_64.gappa: Exp is exp(-y), and Log1p is log(1 + D). *)
Theorem assumed :
  (1 <= _m <= 2)%R -> _Exp = exp (- _y) -> _Log1p = ln (1 + _D) ->
  (-1 / 2^37 <= _e - _Exp <= 1 / 2^37)%R -> hypotheses.
Proof.
  intros M E L R.
  assert (P : (-1 / 1000000 <= ln _m - (_m - 1) * ln 2 <= 0.0597)%R).
  { set (m := _m) in *. clearbody m. clear - M. split;
      interval with (i_bisect m, i_taylor m, i_prec 60). }
  assert (C : (0.693147 <= ln 2 <= 0.693148)%R) by (split; interval with (i_prec 60)).
  assert (Y : (-1 / 2^50 <= _y - ((_m - 1) * ln 2 + 0.03) <= 1 / 2^50)%R).
  { set (l := rounding_fixed rndDN (-64) _Ln2).
    assert (N : (-1 / 2^60 <= l - ln 2 <= 1 / 2^60)%R).
    { assert (H := down_below (-64) _Ln2). assert (H' := down_above (-64) _Ln2). fold l in H, H'.
      assert (K : (-1 / 2^62 <= _Ln2 - ln 2 <= 1 / 2^62)%R)
        by (constants; split; interval with (i_prec 150)).
      constants. lra. }
    assert (A : (-1 / 2^60 <= (_m - 1) * l - (_m - 1) * ln 2 <= 1 / 2^60)%R) by (split; nra).
    assert (F := down_below (-63) ((_m - 1) * l)). assert (F' := down_above (-63) ((_m - 1) * l)).
    assert (G := down_below (-62) (1 / 50)). assert (G' := down_above (-62) (1 / 50)).
    constants. fold l. lra. }
  assert (Z : (-0.0301 <= ln _m - _y <= 0.03)%R) by lra.
  assert (D1 : (-0.031 <= _m * _Exp - 1 <= 0.031)%R).
  { replace (_m * _Exp)%R with (exp (ln _m - _y))
      by (rewrite E; unfold Rminus; rewrite exp_plus, exp_ln; lra).
    revert Z. generalize (ln _m - _y)%R. intros z Z. interval with (i_prec 60). }
  assert (E1 : (0.4 <= _Exp <= 1)%R).
  { rewrite E. assert (X : (0 <= _y <= 0.73)%R) by nra. revert X. generalize _y. intros y X.
    split; [interval with (i_prec 60) |]. rewrite <- exp_0. apply exp_le. lra. }
  clear E Z Y P. opened; rewrite L; constants; set (d := (_m * _Exp - 1)%R) in *; clearbody d;
    interval with (i_bisect d, i_taylor d, i_degree 8, i_prec 100).
Qed.
