(* Fact 3: a checker for arcs, proven. `stretch_ok` = true implies lemma 9's contract at every integer of a range,
   of which there may be 2^2000.

   A range is cut in halves, until on each piece, for each arc: t - L is within the margins at both ends, and stays so between them by
   the least and the greatest that (t - L)'' can be (curve.v); or L alone says what the clamp says, or t is beyond it. *)
From Coq Require Import Reals Lra Lia ZArith List Bool.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Real.Xreal Float.Basic Float.Sig Interval.Interval Interval.Float Interval.Float_full.
From DG.cells Require Import compare law enclose curve parabola bytes checker.
Import ListNotations.
Open Scope R_scope.

(* integers start, start + 1, ... or, if not up, start, start - 1, ...: len of them, outwards from the centre *)
Record stretch := { start : Z; up : bool; len : Z }.
Definition y_at (st : stretch) (o : Z) : Z := if up st then (start st + o)%Z else (start st - o)%Z.
Definition off_centre (st : stretch) (o : Z) : bool := if up st then (1 <=? start st + o)%Z else (start st - o <=? -1)%Z.

Section Piece.
  Variables (l : law) (st : stretch) (A : Z) (a : arc) (m : Z).
  Hypothesis ok : valid l = true.
  Hypothesis A_pos : (0 <= A)%Z.
  Hypothesis len_pos : (0 < len st)%Z.
  Hypothesis slope_pos : (0 <= slope a)%Z.
  Let n := len st.

  Definition T (o : Z) : R := IZR A * g l (y_at st o) - IZR (65536 * m).
  Definition good (o : Z) : Prop :=
    bounded height_bits (IZR (arc_height a (reach o n) - error a)) <= bounded height_bits (T o) <=
    bounded height_bits (IZR (arc_height a (reach o n) + error a)).
  Let above := IZR (above24 a n) / 16777216.
  Let below := IZR (below24 a n) / 16777216.

  Lemma good_from o : (0 <= o < n)%Z ->
    (T o - L a n (IZR o) <= above \/ 65536 <= L a n (IZR o) + above \/ T o <= 0) ->
    (- below <= T o - L a n (IZR o) \/ L a n (IZR o) - below <= 0 \/ 65536 <= T o) -> good o.
  Proof.
    intros Ho HU HL. destruct (arc_parabola a n len_pos slope_pos o Ho) as [H1 H2]. fold above in H1. fold below in H2.
    unfold good, bounded, height_bits. replace (2 ^ 16) with 65536 by ring.
    set (lo := IZR _) in *. set (hi := IZR (_ + _)) in *. set (t := T o) in *. set (y := L a n (IZR o)) in *.
    unfold Rmin, Rmax. split; [clear HU | clear HL]; [destruct HL as [H|[H|H]] | destruct HU as [H|[H|H]]]; repeat destruct Rle_dec; lra.
  Qed.

  Lemma r_at o1 o : off_centre st o1 = true -> (o1 <= o)%Z -> r l (y_at st o) = r l (y_at st o1) + (IZR o - IZR o1).
  Proof.
    intros Hs Ho. unfold off_centre in Hs. unfold y_at. rewrite <- minus_IZR.
    replace (IZR (o - o1)) with (INR (Z.to_nat (o - o1)) * 1) by (rewrite INR_IZR_INZ, Z2Nat.id by lia; ring).
    destruct (up st); apply Z.leb_le in Hs.
    - replace (start st + o)%Z with (start st + o1 + Z.of_nat (Z.to_nat (o - o1)) * 1)%Z by lia.
      exact (r_steps l ok (start st + o1) 1 (Z.to_nat (o - o1)) ltac:(lia)).
    - replace (start st - o)%Z with (start st - o1 + Z.of_nat (Z.to_nat (o - o1)) * -1)%Z by lia.
      exact (r_steps l ok (start st - o1) (-1) (Z.to_nat (o - o1)) ltac:(lia)).
  Qed.
  Lemma r_off o : off_centre st o = true -> 0 < r l (y_at st o).
  Proof.
    intros Hs. rewrite (r_is l ok). apply Rdiv_lt_0_compat; [|exact (d_pos l ok)]. apply IZR_lt. unfold dist.
    destruct (valid_is l ok) as (_ & _ & Hd & Hk & _). unfold off_centre in Hs. unfold y_at. destruct (up st); apply Z.leb_le in Hs; nia.
  Qed.
  Lemma T_falls o1 o : off_centre st o1 = true -> (o1 <= o)%Z -> T o <= T o1.
  Proof.
    intros Hs Ho. unfold T. apply IZR_le in A_pos. enough (g l (y_at st o) <= g l (y_at st o1)) by nra. apply (g_falls l ok).
    unfold off_centre in Hs. unfold y_at. destruct (up st); apply Z.leb_le in Hs; [apply (dist_up l ok) | apply (dist_down l ok)]; lia.
  Qed.

  Section Between.
    Variables o1 o2 : Z.
    Hypothesis order : (o1 < o2)%Z.
    Hypothesis side : off_centre st o1 = true.
    Let r1 := r l (y_at st o1).
    Let p0 := phi l (r l 0).
    Let r_of (x : R) := r1 + (x - IZR o1).
    Definition q (x : R) : R := IZR A * G l p0 (r_of x) - IZR (65536 * m) - L a n x.
    Definition q1 (x : R) : R := IZR A * (- phi1 l (r_of x) * G l p0 (r_of x)) -
      (- IZR (slope a) / IZR n + 4 * IZR (bulge a) / IZR n * (1 - 2 * (x / IZR n))).
    Definition q2 (x : R) : R := IZR A * (G l p0 (r_of x) * bend l (r_of x)) + IZR (8 * bulge a) / IZR (n * n).

    Lemma q_is o : (o1 <= o)%Z -> q (IZR o) = T o - L a n (IZR o).
    Proof. intros Ho. unfold q, T, r_of, r1. rewrite <- r_at by assumption. reflexivity. Qed.
    Lemma r_of_pos x : IZR o1 <= x -> 0 < r_of x.
    Proof. intros Hx. unfold r_of. pose proof (r_off o1 side). fold r1 in H. lra. Qed.

    Lemma shift f f' x : derivable_pt_lim f (r_of x) f' -> derivable_pt_lim (fun x => f (r_of x)) x f'.
    Proof.
      intros H. replace f' with (f' * (0 + (1 - 0))) by ring.
      apply (derivable_pt_lim_comp r_of f); [|exact H]. unfold r_of.
      apply (derivable_pt_lim_plus (fun _ => r1) (fun x => x - IZR o1)); [apply derivable_pt_lim_const|].
      apply (derivable_pt_lim_minus (fun x => x) (fun _ => IZR o1)); [apply derivable_pt_lim_id | apply derivable_pt_lim_const].
    Qed.
    Lemma q_derives x : IZR o1 <= x -> derivable_pt_lim q x (q1 x).
    Proof.
      intros Hx. pose proof (r_of_pos x Hx) as Hr. unfold q, q1.
      assert (Hn : IZR n <> 0) by (apply not_0_IZR; unfold n; lia).
      apply (derivable_pt_lim_minus (fun x => IZR A * G l p0 (r_of x) - IZR (65536 * m)) (L a n)).
      - replace (IZR A * (- phi1 l (r_of x) * G l p0 (r_of x))) with (IZR A * (- phi1 l (r_of x) * G l p0 (r_of x)) - 0) by ring.
        apply (derivable_pt_lim_minus (fun x => IZR A * G l p0 (r_of x)) (fun _ => IZR (65536 * m))); [|apply derivable_pt_lim_const].
        apply (derivable_pt_lim_scal (fun x => G l p0 (r_of x))). apply (shift (G l p0)). now apply G_derives.
      - apply is_derive_Reals. unfold L. auto_derive; [exact I|]. field. exact Hn.
    Qed.
    Lemma q1_derives x : IZR o1 <= x -> derivable_pt_lim q1 x (q2 x).
    Proof.
      intros Hx. pose proof (r_of_pos x Hx) as Hr. unfold q1.
      assert (Hn : IZR n <> 0) by (apply not_0_IZR; unfold n; lia).
      replace (q2 x) with (IZR A * (G l p0 (r_of x) * bend l (r_of x)) - - (IZR (8 * bulge a) / IZR (n * n))) by (unfold q2; ring).
      apply (derivable_pt_lim_minus (fun x => IZR A * (- phi1 l (r_of x) * G l p0 (r_of x)))
        (fun x => - IZR (slope a) / IZR n + 4 * IZR (bulge a) / IZR n * (1 - 2 * (x / IZR n)))).
      - apply (derivable_pt_lim_scal (fun x => - phi1 l (r_of x) * G l p0 (r_of x))).
        apply (shift (fun r => - phi1 l r * G l p0 r)). now apply G1_derives.
      - apply is_derive_Reals. auto_derive; [exact I|]. rewrite !mult_IZR. field. exact Hn.
    Qed.

    Let h8 := (IZR o2 - IZR o1) * (IZR o2 - IZR o1) / 8.
    Lemma h8_pos : 0 < h8.
    Proof. apply IZR_lt in order. unfold h8. assert (0 < (IZR o2 - IZR o1) * (IZR o2 - IZR o1)) by nra. lra. Qed.

    Lemma q_below z : q (IZR o1) <= z -> q (IZR o2) <= z ->
      (forall c, IZR o1 <= c <= IZR o2 -> q (IZR o1) - q2 c * h8 <= z /\ q (IZR o2) - q2 c * h8 <= z) ->
      forall x, IZR o1 <= x <= IZR o2 -> q x <= z.
    Proof.
      intros H1 H2 H x Hx. pose proof h8_pos as Hh. set (M := Rmax (q (IZR o1)) (q (IZR o2))).
      assert (HM : M <= z) by (apply Rmax_lub; assumption).
      pose proof (chord_above q q1 q2 (IZR o1) (IZR o2) (IZR_lt _ _ order) (fun c Hc => q_derives c (proj1 Hc)) (fun c Hc => q1_derives c (proj1 Hc))
        ((z - M) / h8)) as C.
      assert (HK : 0 <= (z - M) / h8) by (apply Rdiv_le_0_compat; lra).
      specialize (C HK). fold h8 in C. fold M in C. replace ((z - M) / h8 * h8) with (z - M) in C by (field; lra).
      enough (q x <= M + (z - M)) by lra. apply C; [|exact Hx]. intros c Hc. destruct (H c Hc) as [Ha Hb].
      assert (M - q2 c * h8 <= z) by (unfold M, Rmax; destruct Rle_dec; assumption).
      apply Rmult_le_reg_r with h8; [exact Hh|]. replace (- ((z - M) / h8) * h8) with (- (z - M)) by (field; lra). lra.
    Qed.
    Lemma q_above z : z <= q (IZR o1) -> z <= q (IZR o2) ->
      (forall c, IZR o1 <= c <= IZR o2 -> z <= q (IZR o1) - q2 c * h8 /\ z <= q (IZR o2) - q2 c * h8) ->
      forall x, IZR o1 <= x <= IZR o2 -> z <= q x.
    Proof.
      intros H1 H2 H x Hx. pose proof h8_pos as Hh. set (M := Rmin (q (IZR o1)) (q (IZR o2))).
      assert (HM : z <= M) by (apply Rmin_glb; assumption).
      pose proof (chord_below q q1 q2 (IZR o1) (IZR o2) (IZR_lt _ _ order) (fun c Hc => q_derives c (proj1 Hc)) (fun c Hc => q1_derives c (proj1 Hc))
        ((M - z) / h8)) as C.
      assert (HK : 0 <= (M - z) / h8) by (apply Rdiv_le_0_compat; lra).
      specialize (C HK). fold h8 in C. fold M in C. replace ((M - z) / h8 * h8) with (M - z) in C by (field; lra).
      enough (M - (M - z) <= q x) by lra. apply C; [|exact Hx]. intros c Hc. destruct (H c Hc) as [Ha Hb].
      assert (z <= M - q2 c * h8) by (unfold M, Rmin; destruct Rle_dec; assumption).
      apply Rmult_le_reg_r with h8; [exact Hh|]. replace ((M - z) / h8 * h8) with (M - z) by (field; lra). lra.
    Qed.
  End Between.
End Piece.

Module Arcs (F : FloatOps with Definition radix := Zaux.radix2 with Definition sensible_format := true).
  Module N := Enclose F.

  Section Check.
  Variable prec : F.precision.
  Variables (l : law) (st : stretch) (A : Z) (P0 : N.I.type).
  Hypothesis ok : valid l = true.
  Hypothesis A_pos : (0 <= A)%Z.
  Hypothesis len_pos : (0 < len st)%Z.
  Hypothesis P0_right : N.holds P0 (phi l (r l 0)).

  (* at an integer: phi, g, phi', r *)
  Record point := { p_phi : N.I.type; p_g : N.I.type; p_phi1 : N.I.type; p_r : N.I.type }.
  Definition point_at (y : Z) : point :=
    let D := dist l y in let P := N.phi_at prec l D in
    {| p_phi := P;
       p_g := if (D =? dist l 0)%Z then N.I.fromZ prec 1 else N.fall prec l D (dist l 0) P P0;
       p_phi1 := N.I.mul prec (N.ratio prec (beta_num l * d l) (beta_den l * D)) P;
       p_r := N.ratio prec D (d l) |}.
  Definition point_right (y : Z) (p : point) : Prop :=
    N.holds (p_g p) (g l y) /\ ((0 < dist l y)%Z ->
      N.holds (p_phi p) (phi l (r l y)) /\ N.holds (p_phi1 p) (phi1 l (r l y)) /\ N.holds (p_r p) (r l y)).
  Lemma point_at_right y : point_right y (point_at y).
  Proof.
    assert (HP : N.holds (N.phi_at prec l (dist l y)) (phi l (r l y))).
    { rewrite (r_is l ok). apply N.phi_at_right; [exact ok | unfold dist; lia]. }
    split; [exact (N.g_at_right prec l ok P0 y P0_right)|]. intros HD. destruct (valid_is l ok) as (_ & _ & Hd & _). repeat split.
    - exact HP.
    - unfold phi1. pose proof (beta_is l ok) as Hb.
      replace (beta l * phi l (r l y) / r l y) with (IZR (beta_num l * d l) / IZR (beta_den l * dist l y) * phi l (r l y)).
      + apply N.mul_right; [apply N.ratio_right; nia | exact HP].
      + rewrite (r_is l ok) at 3. unfold beta. rewrite !mult_IZR. field. repeat split; apply not_0_IZR; lia.
    - rewrite (r_is l ok). apply N.ratio_right. lia.
  Qed.

  Lemma join_right X Y x y z : N.holds X x -> N.holds Y y -> x <= z <= y \/ y <= z <= x -> N.holds (N.I.join X Y) z.
  Proof.
    intros HX HY H. assert (HX' : N.holds (N.I.join X Y) x) by (apply N.I.join_correct; now left).
    assert (HY' : N.holds (N.I.join X Y) y) by (apply N.I.join_correct; now right).
    destruct H as [H|H]; [exact (contains_connected _ _ _ HX' HY' z H) | exact (contains_connected _ _ _ HY' HX' z H)].
  Qed.

  (* A g'' between two points *)
  Definition bent (p p' : point) : N.I.type :=
    let s1 := N.I.join (p_phi1 p) (p_phi1 p') in
    let s2 := match kind l with
      | Laplace => N.I.fromZ prec 0
      | Gaussian => N.ratio prec (u l) (s l)
      | Power bn bd => let rr := N.I.join (p_r p) (p_r p') in
          N.I.mul prec (N.ratio prec (bn * (bn - bd)) (bd * bd)) (N.I.div prec (N.I.join (p_phi p) (p_phi p')) (N.I.mul prec rr rr))
      end in
    N.I.mul prec (N.I.fromZ prec A) (N.I.mul prec (N.I.join (p_g p) (p_g p')) (N.I.sub prec (N.I.mul prec s1 s1) s2)).

  Lemma bent_right y y' p p' z : point_right y p -> point_right y' p' -> 0 < r l y -> r l y <= z <= r l y' ->
    N.holds (bent p p') (IZR A * (G l (phi l (r l 0)) z * bend l z)).
  Proof.
    intros [Hg Hp] [Hg' Hp'] Hr Hz.
    assert (Hpos : forall x, 0 < r l x -> (0 < dist l x)%Z).
    { intros x Hx. rewrite (r_is l ok) in Hx. destruct (Z.eq_dec (dist l x) 0) as [He|He]; [|unfold dist in *; lia].
      rewrite He in Hx. unfold Rdiv in Hx. rewrite Rmult_0_l in Hx. lra. }
    destruct (Hp (Hpos y ltac:(lra))) as (Hphi & Hs & Hrr). destruct (Hp' (Hpos y' ltac:(lra))) as (Hphi' & Hs' & Hrr').
    unfold bent. apply N.mul_right; [apply N.z_right|]. apply N.mul_right.
    - apply (join_right _ _ _ _ _ Hg Hg'). right. change (g l y) with (G l (phi l (r l 0)) (r l y)). change (g l y') with (G l (phi l (r l 0)) (r l y')).
      split; apply (G_falls l ok); lra.
    - unfold bend. apply N.sub_right.
      + apply N.mul_right; apply (join_right _ _ _ _ _ Hs Hs'); left; split; apply (phi1_grows l ok); lra.
      + destruct (valid_is l ok) as (Hs1 & Hu1 & _ & _ & Hb). unfold phi2, beta, beta_num, beta_den. destruct (kind l) as [| |bn bd] eqn:Hk.
        * replace (2 / 1 * (2 / 1 - 1) * phi l z / (z * z)) with (IZR (u l) / IZR (s l)); [apply N.ratio_right; lia|].
          unfold phi. rewrite Hk. field. repeat split; try lra; apply not_0_IZR; lia.
        * replace (1 / 1 * (1 / 1 - 1) * phi l z / (z * z)) with 0 by (field; lra). apply (N.z_right prec 0).
        * replace (IZR bn / IZR bd * (IZR bn / IZR bd - 1) * phi l z / (z * z)) with
            (IZR (bn * (bn - bd)) / IZR (bd * bd) * (phi l z / (z * z))).
          2: { rewrite !mult_IZR, minus_IZR. field. split; (lra || (apply not_0_IZR; lia)). }
          apply N.mul_right; [apply N.ratio_right; nia|]. apply N.div_right; [nra| |].
          -- apply (join_right _ _ _ _ _ Hphi Hphi'). left. split; apply (phi_grows l ok); lra.
          -- apply N.mul_right; apply (join_right _ _ _ _ _ Hrr Hrr'); now left.
  Qed.

  (* at the o-th integer of the range: point, o/n, (o/n)(1 - o/n) *)
  Record spot := { s_point : point; s_reach : N.I.type; s_bow : N.I.type }.
  Definition spot_at (o : Z) : spot :=
    let x := N.ratio prec o (len st) in
    {| s_point := point_at (y_at st o); s_reach := x; s_bow := N.I.mul prec x (N.I.sub prec (N.I.fromZ prec 1) x) |}.
  Definition spot_right (o : Z) (p : spot) : Prop :=
    point_right (y_at st o) (s_point p) /\ N.holds (s_reach p) (IZR o / IZR (len st)) /\
    N.holds (s_bow p) (IZR o / IZR (len st) * (1 - IZR o / IZR (len st))).
  Lemma spot_at_right o : spot_right o (spot_at o).
  Proof.
    assert (H : N.holds (N.ratio prec o (len st)) (IZR o / IZR (len st))) by (apply N.ratio_right; lia).
    split; [apply point_at_right|]. split; [exact H|]. apply N.mul_right; [exact H|]. apply N.sub_right; [apply (N.z_right prec 1) | exact H].
  Qed.
  Definition L_at (a : arc) (p : spot) : N.I.type :=
    N.I.add prec (N.I.sub prec (N.I.fromZ prec (base a)) (N.I.mul prec (N.I.fromZ prec (slope a)) (s_reach p)))
      (N.I.mul prec (N.I.fromZ prec (4 * bulge a)) (s_bow p)).
  Lemma L_at_right a o p : spot_right o p -> N.holds (L_at a p) (L a (len st) (IZR o)).
  Proof.
    intros (_ & Hr & Hb). unfold L_at, L. apply N.add_right; [apply N.sub_right; [apply N.z_right | apply N.mul_right; [apply N.z_right | exact Hr]]|].
    apply N.mul_right; [|exact Hb]. rewrite <- (mult_IZR 4). apply N.z_right.
  Qed.

  (* a piece of h + 1 integers: A g'' on it, h^2/8, (h/n)^2 *)
  Record piece := { curve : N.I.type; eighth : N.I.type; part2 : N.I.type }.
  Definition piece_of (o1 o2 : Z) (p1 p2 : spot) : piece :=
    let h := (o2 - o1)%Z in let H := N.I.fromZ prec h in let x := N.ratio prec h (len st) in
    {| curve := bent (s_point p1) (s_point p2); eighth := N.I.div prec (N.I.mul prec H H) (N.I.fromZ prec 8); part2 := N.I.mul prec x x |}.
  Definition no_piece : piece := let z := N.I.fromZ prec 0 in {| curve := z; eighth := z; part2 := z |}.
  Definition piece_right (o1 o2 : Z) (p1 p2 : spot) (c : piece) : Prop :=
    let h := IZR o2 - IZR o1 in
    (o1 <> o2 -> curve c = bent (s_point p1) (s_point p2)) /\ N.holds (eighth c) (h * h / 8) /\
    N.holds (part2 c) (h / IZR (len st) * (h / IZR (len st))).
  Lemma piece_of_right o1 o2 p1 p2 : piece_right o1 o2 p1 p2 (piece_of o1 o2 p1 p2).
  Proof.
    unfold piece_right. rewrite <- minus_IZR. split; [reflexivity|]. split.
    - apply N.div_right; [lra | apply N.mul_right; apply N.z_right | apply N.z_right].
    - apply N.mul_right; apply N.ratio_right; lia.
  Qed.
  Lemma no_piece_right o p1 p2 : piece_right o o p1 p2 no_piece.
  Proof.
    unfold piece_right. rewrite Rminus_eq_0. split; [congruence|]. unfold Rdiv. rewrite !Rmult_0_l. split; apply (N.z_right prec 0).
  Qed.

  (* one arc, on one piece *)
  Definition arc_ok (c : piece) (o1 o2 : Z) (p1 p2 : spot) (am : arc * Z) : bool :=
    let '(a, m) := am in
    let n := len st in
    let t1 := N.I.sub prec (N.I.mul prec (N.I.fromZ prec A) (p_g (s_point p1))) (N.I.fromZ prec (65536 * m)) in
    let t2 := N.I.sub prec (N.I.mul prec (N.I.fromZ prec A) (p_g (s_point p2))) (N.I.fromZ prec (65536 * m)) in
    let L1 := L_at a p1 in let L2 := L_at a p2 in
    let e1 := N.I.sub prec t1 L1 in
    let e2 := N.I.sub prec t2 L2 in
    let k := N.I.add prec (N.I.mul prec (curve c) (eighth c)) (N.I.mul prec (N.I.fromZ prec (bulge a)) (part2 c)) in
    let above := N.ratio prec (above24 a n) 16777216 in
    let below := N.I.neg (N.ratio prec (below24 a n) 16777216) in
    let dip := N.I.mul prec (N.I.fromZ prec (Z.max 0 (- bulge a))) (part2 c) in
    let rise := N.I.mul prec (N.I.fromZ prec (Z.max 0 (bulge a))) (part2 c) in
    let one L := N.at_most prec (N.I.fromZ prec 65536) (N.I.add prec (N.I.sub prec L dip) above) in
    let zero L := N.at_most prec (N.I.add prec (N.I.add prec L rise) below) (N.I.fromZ prec 0) in
    (0 <=? slope a)%Z &&&
    (if N.at_most prec t1 (N.I.fromZ prec 0) then true else
     if one L1 &&& one L2 then true else
     N.at_most prec e1 above &&& N.at_most prec e2 above &&&
     (if (o1 =? o2)%Z then true else N.at_most prec (N.I.sub prec e1 k) above &&& N.at_most prec (N.I.sub prec e2 k) above)) &&&
    (if N.at_most prec (N.I.fromZ prec 65536) t2 then true else
     if zero L1 &&& zero L2 then true else
     N.at_most prec below e1 &&& N.at_most prec below e2 &&&
     (if (o1 =? o2)%Z then true else N.at_most prec below (N.I.sub prec e1 k) &&& N.at_most prec below (N.I.sub prec e2 k))).

  Lemma dip_right B o1 o2 : let h := IZR o2 - IZR o1 in
    Rmax 0 (IZR B) * (h * h) / IZR (len st * len st) = IZR (Z.max 0 B) * (h / IZR (len st) * (h / IZR (len st))).
  Proof.
    cbv zeta. assert (Hn : IZR (len st) <> 0) by (apply not_0_IZR; lia).
    replace (Rmax 0 (IZR B)) with (IZR (Z.max 0 B)); [rewrite mult_IZR; field; exact Hn|].
    unfold Rmax. destruct Rle_dec as [Hb|Hb].
    - apply le_IZR in Hb. now rewrite Z.max_r by lia.
    - rewrite Z.max_l; [reflexivity|]. apply Rnot_le_lt in Hb. apply lt_IZR in Hb. lia.
  Qed.

  Lemma arc_ok_right o1 o2 p1 p2 a m c0 : (0 <= o1 <= o2)%Z -> (o2 < len st)%Z -> (o1 = o2 \/ off_centre st o1 = true) ->
    spot_right o1 p1 -> spot_right o2 p2 -> piece_right o1 o2 p1 p2 c0 ->
    arc_ok c0 o1 o2 p1 p2 (a, m) = true -> forall o, (o1 <= o <= o2)%Z -> good l st A a m o.
  Proof.
    intros H12 Hlen Hside Hs1 Hs2 (Hcurve & Heighth & Hpart) H o Ho. pose proof (proj1 Hs1) as Hp1. pose proof (proj1 Hs2) as Hp2. unfold arc_ok in H.
    apply both_true in H as [H HL]. apply both_true in H as [Hs HU]. apply Z.leb_le in Hs.
    set (n := len st) in *.
    set (t1 := N.I.sub prec (N.I.mul prec (N.I.fromZ prec A) (p_g (s_point p1))) (N.I.fromZ prec (65536 * m))) in *.
    set (t2 := N.I.sub prec (N.I.mul prec (N.I.fromZ prec A) (p_g (s_point p2))) (N.I.fromZ prec (65536 * m))) in *.
    assert (T1 : N.holds t1 (T l st A m o1)) by (apply N.sub_right; [apply N.mul_right; [apply N.z_right | apply Hp1] | apply N.z_right]).
    assert (T2 : N.holds t2 (T l st A m o2)) by (apply N.sub_right; [apply N.mul_right; [apply N.z_right | apply Hp2] | apply N.z_right]).
    pose proof (L_at_right a o1 p1 Hs1) as HL1. pose proof (L_at_right a o2 p2 Hs2) as HL2. fold n in HL1, HL2.
    set (L1 := L_at a p1) in *. set (L2 := L_at a p2) in *.
    set (e1 := N.I.sub prec t1 L1) in *.
    set (e2 := N.I.sub prec t2 L2) in *.
    assert (E1 : N.holds e1 (T l st A m o1 - L a n (IZR o1))) by (apply N.sub_right; assumption).
    assert (E2 : N.holds e2 (T l st A m o2 - L a n (IZR o2))) by (apply N.sub_right; assumption).
    destruct (L_between a n len_pos (IZR o) (IZR o1) (IZR o2)) as [Hleast Hmost]; [split; apply IZR_le; lia|].
    rewrite <- opp_IZR in Hleast. pose proof (dip_right (- bulge a) o1 o2) as Hdip. pose proof (dip_right (bulge a) o1 o2) as Hrise.
    cbv zeta in Hdip, Hrise. fold n in Hdip, Hrise. rewrite Hdip in Hleast. rewrite Hrise in Hmost. clear Hdip Hrise.
    set (k := N.I.add prec (N.I.mul prec (curve c0) (eighth c0)) (N.I.mul prec (N.I.fromZ prec (bulge a)) (part2 c0))) in *.
    set (dip := N.I.mul prec (N.I.fromZ prec (Z.max 0 (- bulge a))) (part2 c0)) in *.
    set (rise := N.I.mul prec (N.I.fromZ prec (Z.max 0 (bulge a))) (part2 c0)) in *.
    assert (Hdip : N.holds dip _) by (apply N.mul_right; [apply N.z_right | exact Hpart]).
    assert (Hrise : N.holds rise _) by (apply N.mul_right; [apply N.z_right | exact Hpart]).
    fold n in Hdip, Hrise. set (dip_r := IZR (Z.max 0 (- bulge a)) * _) in *. set (rise_r := IZR (Z.max 0 (bulge a)) * _) in *.
    set (above := N.ratio prec (above24 a n) 16777216) in *. set (below := N.I.neg (N.ratio prec (below24 a n) 16777216)) in *.
    assert (HA : N.holds above (IZR (above24 a n) / 16777216)) by (apply N.ratio_right; lia).
    assert (HB : N.holds below (- (IZR (below24 a n) / 16777216))) by (apply N.neg_right, N.ratio_right; lia).
    assert (K : o1 <> o2 -> forall c, IZR o1 <= c <= IZR o2 -> N.holds k (q2 l st A a o1 c * ((IZR o2 - IZR o1) * (IZR o2 - IZR o1) / 8))).
    { intros Hne c Hc. destruct Hside as [|Hside]; [contradiction|]. unfold q2. fold n. set (x := IZR A * _).
      replace ((x + IZR (8 * bulge a) / IZR (n * n)) * ((IZR o2 - IZR o1) * (IZR o2 - IZR o1) / 8)) with
        (x * ((IZR o2 - IZR o1) * (IZR o2 - IZR o1) / 8) + IZR (bulge a) * ((IZR o2 - IZR o1) / IZR n * ((IZR o2 - IZR o1) / IZR n))).
      2: { rewrite !mult_IZR. field. apply not_0_IZR. unfold n. lia. }
      apply N.add_right; [apply N.mul_right; [|exact Heighth] | apply N.mul_right; [apply N.z_right | exact Hpart]].
      rewrite (Hcurve Hne). apply (bent_right (y_at st o1) (y_at st o2)); try assumption.
      - exact (r_off l st ok o1 Hside).
      - rewrite (r_at l st ok o1 o2 Hside) by lia. lra. }
    apply good_from; try assumption; [lia| |].
    - destruct (N.at_most prec t1 (N.I.fromZ prec 0)) eqn:H0.
      { right; right. pose proof (N.at_most_right prec _ _ _ _ T1 (N.z_right prec 0) H0) as Ht.
        destruct (Z.eq_dec o1 o) as [<-|Hne]; [exact Ht|]. destruct Hside as [Heq|Hside]; [lia|].
        pose proof (T_falls l st A m ok A_pos o1 o Hside ltac:(lia)). lra. }
      destruct (if N.at_most prec _ (N.I.add prec (N.I.sub prec L1 dip) above) then _ else _) eqn:H1.
      { apply both_true in H1 as [Ha Hb]. right; left.
        apply (N.at_most_right prec _ _ _ _ (N.z_right prec 65536) (N.add_right prec _ _ _ _ (N.sub_right prec _ _ _ _ HL1 Hdip) HA)) in Ha.
        apply (N.at_most_right prec _ _ _ _ (N.z_right prec 65536) (N.add_right prec _ _ _ _ (N.sub_right prec _ _ _ _ HL2 Hdip) HA)) in Hb.
        pose proof (Rmin_glb (L a n (IZR o1)) (L a n (IZR o2)) (65536 + dip_r - IZR (above24 a n) / 16777216) ltac:(lra) ltac:(lra)). fold n. lra. }
      apply both_true in HU as [HU Hk]. apply both_true in HU as [Ha Hb]. left.
      pose proof (N.at_most_right prec _ _ _ _ E1 HA Ha) as Q1. pose proof (N.at_most_right prec _ _ _ _ E2 HA Hb) as Q2.
      destruct (Z.eqb_spec o1 o2) as [He|Hne]; [replace o with o1 by lia; exact Q1|].
      apply both_true in Hk as [Hk1 Hk2]. destruct Hside as [|Hside]; [contradiction|].
      rewrite <- (q_is l st A a m ok o1 Hside) by lia. rewrite <- (q_is l st A a m ok o1 Hside) in Q1, Q2 by lia.
      apply (q_below l st A a m ok len_pos o1 o2 ltac:(lia) Hside); try assumption; [|split; apply IZR_le; lia].
      intros c Hc. specialize (K Hne c Hc). split.
      + rewrite (q_is l st A a m ok o1 Hside) by lia. exact (N.at_most_right prec _ _ _ _ (N.sub_right prec _ _ _ _ E1 K) HA Hk1).
      + rewrite (q_is l st A a m ok o1 Hside) by lia. exact (N.at_most_right prec _ _ _ _ (N.sub_right prec _ _ _ _ E2 K) HA Hk2).
    - destruct (N.at_most prec (N.I.fromZ prec 65536) t2) eqn:H0.
      { right; right. pose proof (N.at_most_right prec _ _ _ _ (N.z_right prec 65536) T2 H0) as Ht.
        destruct (Z.eq_dec o o2) as [->|Hne]; [exact Ht|]. destruct Hside as [Heq|Hside]; [lia|].
        assert (off_centre st o = true).
        { revert Hside. unfold off_centre. destruct (up st); rewrite !Z.leb_le; lia. }
        pose proof (T_falls l st A m ok A_pos o o2 H ltac:(lia)). lra. }
      destruct (if N.at_most prec (N.I.add prec (N.I.add prec L1 rise) below) _ then _ else _) eqn:H1.
      { apply both_true in H1 as [Ha Hb]. right; left.
        apply (N.at_most_right prec _ _ _ _ (N.add_right prec _ _ _ _ (N.add_right prec _ _ _ _ HL1 Hrise) HB) (N.z_right prec 0)) in Ha.
        apply (N.at_most_right prec _ _ _ _ (N.add_right prec _ _ _ _ (N.add_right prec _ _ _ _ HL2 Hrise) HB) (N.z_right prec 0)) in Hb.
        pose proof (Rmax_lub (L a n (IZR o1)) (L a n (IZR o2)) (IZR (below24 a n) / 16777216 - rise_r) ltac:(lra) ltac:(lra)). fold n. lra. }
      apply both_true in HL as [HL Hk]. apply both_true in HL as [Ha Hb]. left.
      pose proof (N.at_most_right prec _ _ _ _ HB E1 Ha) as Q1. pose proof (N.at_most_right prec _ _ _ _ HB E2 Hb) as Q2.
      destruct (Z.eqb_spec o1 o2) as [He|Hne]; [replace o with o1 by lia; exact Q1|].
      apply both_true in Hk as [Hk1 Hk2]. destruct Hside as [|Hside]; [contradiction|].
      rewrite <- (q_is l st A a m ok o1 Hside) by lia. rewrite <- (q_is l st A a m ok o1 Hside) in Q1, Q2 by lia.
      apply (q_above l st A a m ok len_pos o1 o2 ltac:(lia) Hside); try assumption; [|split; apply IZR_le; lia].
      intros c Hc. specialize (K Hne c Hc). split.
      + rewrite (q_is l st A a m ok o1 Hside) by lia. exact (N.at_most_right prec _ _ _ _ HB (N.sub_right prec _ _ _ _ E1 K) Hk1).
      + rewrite (q_is l st A a m ok o1 Hside) by lia. exact (N.at_most_right prec _ _ _ _ HB (N.sub_right prec _ _ _ _ E2 K) Hk2).
  Qed.

  (* all arcs of a range, by halves *)
  Fixpoint pieces_ok (fuel : nat) (arcs : list (arc * Z)) (o1 o2 : Z) (p1 p2 : spot) : bool :=
    let c := if (o1 =? o2)%Z then no_piece else piece_of o1 o2 p1 p2 in
    match filter (fun a => negb (arc_ok c o1 o2 p1 p2 a)) arcs with
    | [] => true
    | rest =>
      match fuel with
      | O => false
      | S fuel =>
        if (o1 =? o2)%Z then false
        else if (o2 =? o1 + 1)%Z then pieces_ok fuel rest o1 o1 p1 p1 &&& pieces_ok fuel rest o2 o2 p2 p2
        else let o := ((o1 + o2) / 2)%Z in let p := spot_at o in
             pieces_ok fuel rest o1 o p1 p &&& pieces_ok fuel rest o o2 p p2
      end
    end.

  Lemma pieces_right fuel : forall arcs o1 o2 p1 p2, (0 <= o1 <= o2)%Z -> (o2 < len st)%Z -> (o1 = o2 \/ off_centre st o1 = true) ->
    spot_right o1 p1 -> spot_right o2 p2 -> pieces_ok fuel arcs o1 o2 p1 p2 = true ->
    forall a m, In (a, m) arcs -> forall o, (o1 <= o <= o2)%Z -> good l st A a m o.
  Proof.
    assert (Hin : forall am (arcs : list (arc * Z)) f, In am arcs -> f am = true \/ In am (filter (fun a => negb (f a)) arcs)).
    { intros am arcs f H. destruct (f am) eqn:He; [now left | right]. apply filter_In. now rewrite He. }
    induction fuel as [|fuel IH]; intros arcs o1 o2 p1 p2 H12 Hlen Hside Hp1 Hp2 H a m Ha o Ho; cbn [pieces_ok] in H;
      set (c := if (o1 =? o2)%Z then _ else _) in H;
      assert (Hcurve : piece_right o1 o2 p1 p2 c)
        by (unfold c; destruct (Z.eqb_spec o1 o2) as [<-|]; [apply no_piece_right | apply piece_of_right]);
      destruct (Hin (a, m) arcs (arc_ok c o1 o2 p1 p2) Ha) as [Hok|Hrest];
      try exact (arc_ok_right o1 o2 p1 p2 a m c H12 Hlen Hside Hp1 Hp2 Hcurve Hok o Ho).
    - destruct (filter _ arcs); [easy | discriminate].
    - destruct (filter _ arcs) as [|am rest]; [easy|].
      destruct (Z.eqb_spec o1 o2) as [|Hne]; [discriminate|]. destruct Hside as [|Hside]; [contradiction|].
      destruct (Z.eqb_spec o2 (o1 + 1)) as [He|Hfar]; apply both_true in H as [H1 H2].
      + destruct (Z.eq_dec o o1) as [->|Hn].
        * apply (IH _ o1 o1 p1 p1 ltac:(lia) ltac:(lia) (or_introl eq_refl) Hp1 Hp1 H1 a m Hrest). lia.
        * apply (IH _ o2 o2 p2 p2 ltac:(lia) ltac:(lia) (or_introl eq_refl) Hp2 Hp2 H2 a m Hrest). lia.
      + set (o3 := ((o1 + o2) / 2)%Z) in *. assert (Ho3 : (o1 < o3 < o2)%Z).
        { unfold o3. pose proof (Z.div_mod (o1 + o2) 2 ltac:(lia)). pose proof (Z.mod_pos_bound (o1 + o2) 2 ltac:(lia)). lia. }
        pose proof (spot_at_right o3) as Hp3.
        destruct (Z.le_ge_cases o o3) as [Hle|Hge].
        * apply (IH _ o1 o3 p1 _ ltac:(lia) ltac:(lia) (or_intror Hside) Hp1 Hp3 H1 a m Hrest). lia.
        * assert (Hs3 : off_centre st o3 = true) by (revert Hside; unfold off_centre; destruct (up st); rewrite !Z.leb_le; lia).
          apply (IH _ o3 o2 _ p2 ltac:(lia) ltac:(lia) (or_intror Hs3) Hp3 Hp2 H2 a m Hrest). lia.
  Qed.

  (* the integer y = 0 alone, as it may lie across the centre *)
  Definition fuel := 60%nat.
  Definition stretch_ok (arcs : list (arc * Z)) : bool :=
    let n := len st in
    let first := if (start st =? 0)%Z then 1%Z else 0%Z in
    (if (start st =? 0)%Z then let p := spot_at 0 in pieces_ok fuel arcs 0 0 p p else true) &&&
    (if (first <? n)%Z then off_centre st first &&& pieces_ok fuel arcs first (n - 1) (spot_at first) (spot_at (n - 1)) else true).

  Theorem stretch_right arcs : stretch_ok arcs = true -> forall a m, In (a, m) arcs -> forall o, (0 <= o < len st)%Z -> good l st A a m o.
  Proof.
    intros H a m Ha o Ho. unfold stretch_ok in H. apply both_true in H as [H0 H1].
    destruct (Z.eqb_spec (start st) 0) as [Hz|Hz].
    - destruct (Z.eq_dec o 0) as [->|Hn].
      + apply (pieces_right fuel arcs 0 0 _ _ ltac:(lia) ltac:(lia) (or_introl eq_refl) (spot_at_right _) (spot_at_right _) H0 a m Ha). lia.
      + destruct (Z.ltb_spec 1 (len st)); [|lia]. apply both_true in H1 as [Hs H1].
        apply (pieces_right fuel arcs 1 (len st - 1) _ _ ltac:(lia) ltac:(lia) (or_intror Hs) (spot_at_right _) (spot_at_right _) H1 a m Ha). lia.
    - destruct (Z.ltb_spec 0 (len st)); [|lia]. apply both_true in H1 as [Hs H1].
      apply (pieces_right fuel arcs 0 (len st - 1) _ _ ltac:(lia) ltac:(lia) (or_intror Hs) (spot_at_right _) (spot_at_right _) H1 a m Ha). lia.
  Qed.
  End Check.
End Arcs.
