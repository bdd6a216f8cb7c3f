(* Numbers with proven bounds, by the Interval library, run inside Coq: phi of a law, and g.

   A functor, so that the same proof serves integers of any size as Coq's kernel computes with them (63-bit words),
   and plain Z, which needs no such words and is ten times slower. *)
From Coq Require Import Reals Lra Lia ZArith List Bool.
From Interval Require Import Real.Xreal Float.Basic Float.Sig Interval.Interval Interval.Float Interval.Float_full.
From DG.cells Require Import compare law.
Open Scope R_scope.

Module Enclose (F : FloatOps with Definition radix := Zaux.radix2 with Definition sensible_format := true).
  Module I := FloatIntervalFull F.

  Definition holds (X : I.type) (x : R) : Prop := contains (I.convert X) (Xreal x).

  Section Precision.
  Variable prec : F.precision.

  Lemma z_right z : holds (I.fromZ prec z) (IZR z). Proof. apply I.fromZ_correct. Qed.
  Lemma neg_right X x : holds X x -> holds (I.neg X) (- x).
  Proof. exact (I.neg_correct X (Xreal x)). Qed.
  Lemma add_right X Y x y : holds X x -> holds Y y -> holds (I.add prec X Y) (x + y).
  Proof. exact (I.add_correct prec X Y (Xreal x) (Xreal y)). Qed.
  Lemma sub_right X Y x y : holds X x -> holds Y y -> holds (I.sub prec X Y) (x - y).
  Proof. exact (I.sub_correct prec X Y (Xreal x) (Xreal y)). Qed.
  Lemma mul_right X Y x y : holds X x -> holds Y y -> holds (I.mul prec X Y) (x * y).
  Proof. exact (I.mul_correct prec X Y (Xreal x) (Xreal y)). Qed.
  Lemma div_right X Y x y : y <> 0 -> holds X x -> holds Y y -> holds (I.div prec X Y) (x / y).
  Proof.
    intros Hy HX HY. pose proof (I.div_correct prec X Y (Xreal x) (Xreal y) HX HY) as H.
    simpl in H. unfold Xdiv' in H. destruct (is_zero_spec y) as [Hz|_]; [contradiction | exact H].
  Qed.
  Lemma exp_right X x : holds X x -> holds (I.exp prec X) (exp x).
  Proof. exact (I.exp_correct prec X (Xreal x)). Qed.
  Lemma ln_right X x : 0 < x -> holds X x -> holds (I.ln prec X) (ln x).
  Proof.
    intros Hx HX. pose proof (I.ln_correct prec X (Xreal x) HX) as H. simpl in H. unfold Xln' in H.
    destruct (is_positive_spec x) as [_|Hn]; [exact H | lra].
  Qed.
  Lemma power_right X x p : holds X x -> holds (I.power_int prec X (Zpos p)) (x ^ Pos.to_nat p).
  Proof. exact (I.power_int_correct prec (Zpos p) X (Xreal x)). Qed.

  Definition not_neg (X : I.type) : bool := match I.sign_large X with Xgt | Xeq => true | _ => false end.
  Lemma not_neg_right X x : holds X x -> not_neg X = true -> 0 <= x.
  Proof.
    unfold not_neg. intros Hc. pose proof (I.sign_large_correct X) as Hs. destruct (I.sign_large X); try easy; intros _.
    - specialize (Hs _ Hc). injection Hs as ->. lra.
    - destruct (Hs _ Hc) as [_ Hp]. exact Hp.
  Qed.
  Definition at_most (X Y : I.type) : bool := not_neg (I.sub prec Y X).
  Lemma at_most_right X Y x y : holds X x -> holds Y y -> at_most X Y = true -> x <= y.
  Proof. intros HX HY H. pose proof (not_neg_right _ _ (sub_right _ _ _ _ HY HX) H). lra. Qed.

  (* exp, bounded on one side only where x is beyond the limit: the numbers there have more bits than memory has *)
  Definition exp_within (limit : Z) (X : I.type) : I.type :=
    if at_most X (I.fromZ prec (- limit)) then I.exp prec (I.lower_extent (I.fromZ prec (- limit)))
    else if at_most (I.fromZ prec limit) X then I.exp prec (I.upper_extent (I.fromZ prec limit))
    else I.exp prec X.
  Lemma exp_within_right limit X x : holds X x -> holds (exp_within limit X) (exp x).
  Proof.
    intros HX. unfold exp_within. destruct (at_most X _) eqn:Hl; [|destruct (at_most _ X) eqn:Hu]; apply exp_right.
    - exact (I.lower_extent_correct _ _ _ (z_right (- limit)) (at_most_right _ _ _ _ HX (z_right _) Hl)).
    - exact (I.upper_extent_correct _ _ _ (z_right limit) (at_most_right _ _ _ _ (z_right _) HX Hu)).
    - exact HX.
  Qed.
  (* of weights, whose bounds are compared with numbers of less than 100 bits; of powers, whose differences count *)
  Definition weight_limit : Z := 4096%Z.
  Definition power_limit : Z := 16384%Z.

  (* ---- phi at a distance D/d, D an integer >= 0 ---- *)
  Variable l : law.
  Hypothesis ok : valid l = true.

  Definition ratio (a b : Z) : I.type := I.div prec (I.fromZ prec a) (I.fromZ prec b).
  Lemma ratio_right a b : b <> 0%Z -> holds (ratio a b) (IZR a / IZR b).
  Proof. intros Hb. apply div_right; [now apply not_0_IZR | apply z_right | apply z_right]. Qed.

  (* D D' u/(2 s d^2), of enclosures: D has 2000 bits where sigma has, and Z would multiply bit by bit *)
  Definition square (X Y : I.type) : I.type := I.div prec (I.mul prec (I.mul prec X Y) (I.fromZ prec (u l))) (I.fromZ prec (2 * s l * (d l * d l))).
  Lemma square_right X Y x y : holds X x -> holds Y y -> holds (square X Y) (x * y * IZR (u l) / IZR (2 * s l * (d l * d l))).
  Proof.
    intros HX HY. destruct (valid_is l ok) as (Hs & Hu & Hd & _). apply div_right; [apply not_0_IZR; nia | | apply z_right].
    apply mul_right; [now apply mul_right | apply z_right].
  Qed.

  Definition phi_at (D : Z) : I.type :=
    match kind l with
    | Gaussian => square (I.fromZ prec D) (I.fromZ prec D)
    | Laplace => ratio (D * u l) (s l * d l)
    | Power bn bd =>
        if (D =? 0)%Z then I.fromZ prec 0
        else let x := ratio (D * u l) (s l * d l) in
             if ((bd =? 1) && (bn <=? 1024))%Z then I.power_int prec x bn
             else exp_within power_limit (I.mul prec (ratio bn bd) (I.ln prec x))
    end.

  Lemma phi_at_right D : (0 <= D)%Z -> holds (phi_at D) (phi l (IZR D / IZR (d l))).
  Proof.
    intros HD. destruct (valid_is l ok) as (Hs & Hu & Hd & _ & Hb). unfold phi_at, phi.
    assert (Hs' : IZR (s l) <> 0) by (apply not_0_IZR; lia). assert (Hu' : IZR (u l) <> 0) by (apply not_0_IZR; lia).
    assert (Hd' : IZR (d l) <> 0) by (apply not_0_IZR; lia).
    assert (Hx : IZR D / IZR (d l) / (IZR (s l) / IZR (u l)) = IZR (D * u l) / IZR (s l * d l))
      by (rewrite !mult_IZR; field; auto).
    destruct (kind l) as [| |bn bd].
    - replace ((IZR D / IZR (d l)) ^ 2 / (2 * (IZR (s l) / IZR (u l)))) with (IZR D * IZR D * IZR (u l) / IZR (2 * s l * (d l * d l))).
      + apply square_right; apply z_right.
      + rewrite !mult_IZR. field. auto.
    - rewrite Hx. apply ratio_right. nia.
    - rewrite Hx. destruct (Z.eqb_spec D 0) as [->|HD0].
      + unfold power. destruct (Rle_dec _ 0) as [|Hn]; [apply z_right|]. exfalso. apply Hn. rewrite Z.mul_0_l. right. field. apply not_0_IZR. nia.
      + assert (Hp : 0 < IZR (D * u l) / IZR (s l * d l)) by (apply Rdiv_lt_0_compat; apply IZR_lt; nia).
        pose proof (ratio_right (D * u l) (s l * d l) ltac:(nia)) as Hr.
        set (x := IZR (D * u l) / IZR (s l * d l)) in *. unfold power. destruct (Rle_dec x 0) as [|_]; [lra|].
        destruct ((bd =? 1) && (bn <=? 1024))%Z eqn:Hi.
        * apply andb_true_iff in Hi as [->%Z.eqb_eq _]. destruct bn as [|p|p]; try lia. replace (IZR (Zpos p) / 1) with (INR (Pos.to_nat p)) by (rewrite INR_IZR_INZ, positive_nat_Z; field).
          change (exp (INR (Pos.to_nat p) * ln x)) with (Rpower x (INR (Pos.to_nat p))). rewrite Rpower_pow by exact Hp. now apply power_right.
        * apply exp_within_right, mul_right; [apply ratio_right; lia | now apply ln_right].
  Qed.

  (* phi(D) - phi(D'), without what cancels where nothing need to be rounded. Where both may be beyond the limit a tangent at D' bounds it. *)
  Definition gain (D D' : Z) (P P' : I.type) : I.type :=
    match kind l with
    | Gaussian => square (I.fromZ prec (D - D')) (I.fromZ prec (D + D'))
    | Laplace => ratio ((D - D') * u l) (s l * d l)
    | Power bn bd =>
        if (D =? D')%Z then I.fromZ prec 0
        else if ((0 <? D') && (D' <? D))%Z && at_most (I.fromZ prec power_limit) P'
        then I.meet (I.sub prec P P') (I.upper_extent (I.mul prec (ratio (bn * (D - D')) (bd * D')) P'))
        else I.sub prec P P'
    end.
  Lemma gain_right D D' P P' : holds P (phi l (IZR D / IZR (d l))) -> holds P' (phi l (IZR D' / IZR (d l))) ->
    holds (gain D D' P P') (phi l (IZR D / IZR (d l)) - phi l (IZR D' / IZR (d l))).
  Proof.
    intros HP HP'. destruct (valid_is l ok) as (Hs & Hu & Hd & _ & _). unfold gain.
    assert (Hs' : IZR (s l) <> 0) by (apply not_0_IZR; lia). assert (Hu' : IZR (u l) <> 0) by (apply not_0_IZR; lia).
    assert (Hd' : IZR (d l) <> 0) by (apply not_0_IZR; lia).
    destruct (kind l) as [| |bn bd] eqn:Hk.
    - unfold phi. rewrite Hk.
      match goal with |- holds _ ?x => replace x with (IZR (D - D') * IZR (D + D') * IZR (u l) / IZR (2 * s l * (d l * d l))) end.
      + apply square_right; apply z_right.
      + rewrite !mult_IZR, minus_IZR, plus_IZR. field. auto.
    - unfold phi. rewrite Hk.
      match goal with |- holds _ ?x => replace x with (IZR ((D - D') * u l) / IZR (s l * d l)) end.
      + apply ratio_right. nia.
      + rewrite !mult_IZR, minus_IZR. field. auto.
    - destruct (Z.eqb_spec D D') as [->|_].
      { rewrite Rminus_eq_0. apply (z_right 0). }
      destruct ((0 <? D') && (D' <? D) && _)%Z eqn:Hc; [|now apply sub_right].
      rewrite !andb_true_iff, !Z.ltb_lt in Hc. destruct Hc as [[HD0 HD] _]. apply I.meet_correct; [exact (sub_right _ _ _ _ HP HP')|].
      assert (Hbd : (1 <= bd <= bn)%Z) by (pose proof (valid_is l ok) as V; rewrite Hk in V; tauto).
      eapply I.upper_extent_correct; [apply mul_right; [apply ratio_right; nia | exact HP']|].
      unfold phi. rewrite Hk. set (c := IZR (s l) / IZR (u l)).
      assert (Hc : 0 < c) by (apply Rdiv_lt_0_compat; apply IZR_lt; lia).
      assert (HD' : 0 < IZR D') by (apply IZR_lt; lia). assert (Hd0 : 0 < IZR (d l)) by (apply IZR_lt; lia).
      assert (HDD : 0 < IZR D) by (apply IZR_lt; lia). assert (Hb0 : 0 < IZR bd) by (apply IZR_lt; lia).
      pose proof (power_tangent (IZR bn / IZR bd) (IZR D' / IZR (d l) / c) (IZR D / IZR (d l) / c)) as Ht.
      assert (1 <= IZR bn / IZR bd).
      { apply Rmult_le_reg_r with (IZR bd); [exact Hb0|]. replace (IZR bn / IZR bd * IZR bd) with (IZR bn) by (field; lra).
        rewrite Rmult_1_l. apply IZR_le. lia. }
      assert (0 < IZR D' / IZR (d l) / c) by (apply Rdiv_lt_0_compat; [apply Rdiv_lt_0_compat; assumption | exact Hc]).
      assert (0 < IZR D / IZR (d l) / c) by (apply Rdiv_lt_0_compat; [apply Rdiv_lt_0_compat; assumption | exact Hc]).
      specialize (Ht ltac:(assumption) ltac:(assumption) ltac:(lra)).
      set (p' := power (IZR D' / IZR (d l) / c) _) in *. set (p := power (IZR D / IZR (d l) / c) _) in *.
      replace (IZR (bn * (D - D')) / IZR (bd * D') * p') with
        (IZR bn / IZR bd * p' / (IZR D' / IZR (d l) / c) * (IZR D / IZR (d l) / c - IZR D' / IZR (d l) / c)).
      + lra.
      + rewrite !mult_IZR, minus_IZR. field. repeat split; lra.
  Qed.

  (* exp(-(phi(D) - phi(D'))) *)
  Definition fall (D D' : Z) (P P' : I.type) : I.type := exp_within weight_limit (I.neg (gain D D' P P')).
  Lemma fall_right D D' P P' : holds P (phi l (IZR D / IZR (d l))) -> holds P' (phi l (IZR D' / IZR (d l))) ->
    holds (fall D D' P P') (exp (- (phi l (IZR D / IZR (d l)) - phi l (IZR D' / IZR (d l))))).
  Proof. intros HP HP'. now apply exp_within_right, neg_right, gain_right. Qed.

  (* ---- g at an integer. P0: phi at y = 0 ---- *)
  Definition g_at (P0 : I.type) (y : Z) : I.type :=
    let D := dist l y in
    if (D =? dist l 0)%Z then I.fromZ prec 1
    else fall D (dist l 0) (phi_at D) P0.
  Lemma g_at_right P0 y : holds P0 (phi l (r l 0)) -> holds (g_at P0 y) (g l y).
  Proof.
    intros H0. unfold g_at. destruct (Z.eqb_spec (dist l y) (dist l 0)) as [He|_].
    - rewrite g_one by assumption. apply (z_right 1).
    - unfold g. rewrite !(r_is l ok) in *. apply fall_right; [|exact H0].
      apply phi_at_right. unfold dist. lia.
  Qed.
  Definition phi_zero_at : I.type := phi_at (dist l 0).
  Lemma phi_zero_right : holds phi_zero_at (phi l (r l 0)).
  Proof. rewrite (r_is l ok). apply phi_at_right. unfold dist. lia. Qed.

  (* lo <= H g(y), H g(y) <= hi *)
  Definition above (P0 : I.type) (H y lo : Z) : bool := at_most (I.fromZ prec lo) (I.mul prec (I.fromZ prec H) (g_at P0 y)).
  Definition below (P0 : I.type) (H y hi : Z) : bool := at_most (I.mul prec (I.fromZ prec H) (g_at P0 y)) (I.fromZ prec hi).
  Lemma above_right P0 H y lo : holds P0 (phi l (r l 0)) -> above P0 H y lo = true -> IZR lo <= IZR H * g l y.
  Proof. intros H0. apply at_most_right; [apply z_right | apply mul_right; [apply z_right | now apply g_at_right]]. Qed.
  Lemma below_right P0 H y hi : holds P0 (phi l (r l 0)) -> below P0 H y hi = true -> IZR H * g l y <= IZR hi.
  Proof. intros H0. apply at_most_right; [apply mul_right; [apply z_right | now apply g_at_right] | apply z_right]. Qed.

  (* exp(-(phi(y') - phi(y))) <= 1/2 *)
  Definition halves (y y' : Z) : bool :=
    at_most (I.mul prec (I.fromZ prec 2) (fall (dist l y') (dist l y) (phi_at (dist l y')) (phi_at (dist l y)))) (I.fromZ prec 1).
  Lemma halves_right y y' : halves y y' = true -> exp (- (phi l (r l y') - phi l (r l y))) <= / 2.
  Proof.
    intros H. enough (2 * exp (- (phi l (r l y') - phi l (r l y))) <= 1) by lra. revert H. apply at_most_right; [|apply z_right].
    apply mul_right; [apply z_right|]. rewrite !(r_is l ok). apply fall_right; apply phi_at_right; unfold dist; lia.
  Qed.
  End Precision.
End Enclose.
