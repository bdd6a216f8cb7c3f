(* What lane_law.gappa assumes: log2e is log2(e). *)
Theorem assumed :
  _log2e = (1 / ln 2)%R -> (1 <= _m <= 2)%R -> (0 <= _m_up - _m <= 1 / 2^63)%R -> (1 <= _m_up <= 2)%R ->
  (1 <= _over51 <= 1.4427)%R -> (0.7213 <= _over52 <= 1)%R -> (0.7 <= _log2e / _m_up <= 1.0000001)%R ->
  (2^9 <= _gained <= 2^10)%R -> (51 <= _rate_places <= 52)%R -> (-11 <= _less <= -9)%R ->
  (0.125 <= _reached <= 2^51)%R -> (0 <= _f_share <= 0.125)%R -> hypotheses.
Proof. intros. assert (C := log2e_63). opened. Qed.
