(* What log2.gappa assumes: root is sqrt 2, log2e log2(e), and Atanh atanh(S). *)
Lemma series s : (-0.1716 <= s <= 0.1716)%R ->
  (-1 / 2^68 <= (ln (1 + s) - ln (1 - s)) / 2 - s * (1 + s * s * (1 / 3 + s * s * (1 / 5 + s * s * (1 / 7
      + s * s * (1 / 9 + s * s * (1 / 11 + s * s * (1 / 13 + s * s * (1 / 15 + s * s * (1 / 17 + s * s * (1 / 19
      + s * s * (1 / 21 + s * s * (1 / 23)))))))))))) <= 1 / 2^68)%R.
Proof. intros S. split; interval with (i_taylor s, i_degree 28, i_prec 120). Qed.

Theorem assumed :
  (1 <= _m <= 2)%R -> _root = sqrt 2 -> _log2e = (1 / ln 2)%R ->
  _Atanh = ((ln (1 + _S) - ln (1 - _S)) / 2)%R -> (-65 / 2^69 <= 1 - _q * _inverse <= 65 / 2^69)%R ->
  hypotheses.
Proof.
  intros M Q E A I.
  assert (C := log2e_63). rewrite <- E in C. clear E.
  assert (D : (13043817825332782212 / 2^63 <= sqrt 2 <= (13043817825332782212 + 1) / 2^63)%R)
    by (split; interval with (i_prec 150)).
  assert (S1 : (-0.1716 <= _S <= 0.1716)%R).
  { rewrite Q. revert M. generalize _m. intros m M. split; interval with (i_bisect m, i_prec 60). }
  rewrite <- Q in D. clear Q. assert (Z := series _S S1). rewrite <- A in Z. clear A S1.
  unfolded;
    lazymatch goal with
    | |- context [_Atanh] => revert Z; clear
    | _ => clear Z; lra
    end;
    generalize ((_m - _root) / (_m + _root))%R; intros s Z; lra.
Qed.
