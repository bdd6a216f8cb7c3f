(* What lane_staircase.gappa assumes: log2e is log2(e). *)
Theorem assumed :
  (1 / 2^15 <= _two_p <= 2^15)%R -> (0 <= _t <= 1)%R -> (0 <= _core_rest <= 1)%R -> (0 <= _end_rest <= 1)%R ->
  _log2e = (1 / ln 2)%R -> (0 <= _share <= 1)%R -> hypotheses.
Proof. intros. assert (C := log2e_63). opened. Qed.
