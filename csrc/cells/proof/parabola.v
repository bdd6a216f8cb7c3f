(* What an arc says, against its parabola: v (dg_arc_height, decide.h) is rounded four times; L is not. (The argument is that of
   python/discretegauss/verify/_arcs.py.) o is the place of an integer in a range of n, counted outwards from the centre. *)
From Coq Require Import Reals Lra Lia ZArith List Bool.
From Coquelicot Require Import Coquelicot.
From DG.cells Require Import compare bytes.
Open Scope R_scope.

Definition reach (o n : Z) : Z := (o * 16777216 / n)%Z.
Definition arc_height (a : arc) (q : Z) : Z :=
  (base a - slope a * q / 16777216 + bulge a * (q * (16777216 - q) / 1073741824) / 65536)%Z.

Section Parabola.
  Variables (a : arc) (n : Z).
  Definition L (x : R) : R :=
    IZR (base a) - IZR (slope a) * (x / IZR n) + 4 * IZR (bulge a) * ((x / IZR n) * (1 - x / IZR n)).

  (* the margins, in units of 2^-24 *)
  Definition whole_reach : bool := (16777216 mod n =? 0)%Z.
  Definition lost : Z := (Z.abs (bulge a) * (if whole_reach then 256 else 260))%Z.
  Definition above24 : Z := ((error a - (if bulge a =? 0 then 0 else 1)) * 16777216 - lost)%Z.
  Definition below24 : Z := ((error a - (if slope a =? 0 then 0 else 1)) * 16777216 - (if whole_reach then 0 else slope a) - lost)%Z.

  Hypothesis R_pos : (0 < n)%Z.
  Hypothesis slope_pos : (0 <= slope a)%Z.

  Lemma floor_right x y : (0 < y)%Z -> IZR (x / y) <= IZR x / IZR y < IZR (x / y) + 1.
  Proof.
    intros Hy. pose proof (Z.div_mod x y ltac:(lia)) as Hd. pose proof (Z.mod_pos_bound x y Hy) as Hm.
    assert (HY : 0 < IZR y) by (apply IZR_lt; lia). destruct Hm as [H1 H2]. apply IZR_le in H1. apply IZR_lt in H2.
    assert (Hx : IZR x = IZR y * IZR (x / y) + IZR (x mod y)) by (rewrite <- mult_IZR, <- plus_IZR; now rewrite <- Hd).
    split; [apply Rle_div_r | apply Rlt_div_l]; lra.
  Qed.

  Lemma arc_parabola o : (0 <= o < n)%Z ->
    L (IZR o) + IZR above24 / 16777216 <= IZR (arc_height a (reach o n) + error a) /\
    IZR (arc_height a (reach o n) - error a) <= L (IZR o) - IZR below24 / 16777216.
  Proof.
    intros Ho. set (q := reach o n). set (p := IZR (o * 16777216) / IZR n).
    assert (HR : 0 < IZR n) by (apply IZR_lt; lia).
    pose proof (floor_right (o * 16777216) n R_pos) as Hq. fold (reach o n) in Hq. fold q p in Hq.
    set (delta := if whole_reach then 0 else 1).
    assert (Hpq : p - IZR q <= delta).
    { unfold delta, whole_reach. destruct (Z.eqb_spec (16777216 mod n) 0) as [Hz|_]; [|lra].
      apply Z.mod_divide in Hz; [|lia]. destruct Hz as [z Hz]. right. unfold p, q, reach. rewrite Hz.
      replace (o * (z * n))%Z with (o * z * n)%Z by ring. rewrite Z.div_mul by lia. rewrite mult_IZR. field. lra. }
    assert (Hp : 0 <= p <= 16777216).
    { unfold p. rewrite mult_IZR. destruct Ho as [H1 H2]. apply IZR_le in H1. apply IZR_lt in H2.
      split; [apply Rdiv_le_0_compat; lra | apply Rle_div_l; lra]. }
    assert (Hq0 : 0 <= IZR q) by (apply IZR_le; unfold q, reach; apply Z.div_pos; lia).
    pose proof (floor_right (slope a * q) 16777216 ltac:(lia)) as HF1. set (F1 := (slope a * q / 16777216)%Z) in *.
    pose proof (floor_right (q * (16777216 - q)) 1073741824 ltac:(lia)) as HM. set (M := (q * (16777216 - q) / 1073741824)%Z) in *.
    pose proof (floor_right (bulge a * M) 65536 ltac:(lia)) as HF2. set (F2 := (bulge a * M / 65536)%Z) in *.
    rewrite !mult_IZR in *. rewrite minus_IZR in HM.
    pose proof slope_pos as Hs. apply IZR_le in Hs. set (S := IZR (slope a)) in *. set (B := IZR (bulge a)) in *.
    assert (HL : L (IZR o) = IZR (base a) - S * p / 16777216 + B * (p * (16777216 - p) / 1073741824) / 65536).
    { unfold L, p. fold S B. rewrite mult_IZR. field. lra. }
    set (mp := p * (16777216 - p) / 1073741824) in *. set (mq := IZR q * (16777216 - IZR q) / 1073741824) in *.
    assert (Hmm : - (delta / 64) <= mq - mp <= delta / 64).
    { replace (mq - mp) with ((IZR q - p) * ((16777216 - p - IZR q) / 1073741824)) by (unfold mq, mp; field).
      assert (Hz : - / 64 <= (16777216 - p - IZR q) / 1073741824 <= / 64) by lra.
      set (z := (16777216 - p - IZR q) / 1073741824) in *. assert (0 <= delta) by (unfold delta; destruct whole_reach; lra). nra. }
    assert (HMp : - (1 + delta / 64) <= IZR M - mp <= 1 + delta / 64) by lra.
    assert (Hlost : IZR lost / 16777216 = Rabs B * (1 + delta / 64) / 65536).
    { unfold lost, B, delta. rewrite mult_IZR, abs_IZR. destruct whole_reach; field. }
    assert (HB : - (IZR lost / 16777216) <= B * IZR M / 65536 - B * mp / 65536 <= IZR lost / 16777216).
    { rewrite Hlost. replace (B * IZR M / 65536 - B * mp / 65536) with (B * (IZR M - mp) / 65536) by field.
      set (z := IZR M - mp) in *. unfold Rabs. destruct (Rcase_abs B); nra. }
    assert (HS : 0 <= S * p / 16777216 - S * IZR q / 16777216 <= S * delta / 16777216).
    { replace (S * p / 16777216 - S * IZR q / 16777216) with (S * (p - IZR q) / 16777216) by field. nra. }
    assert (HS0 : slope a = 0%Z -> IZR F1 = 0) by (intros Hz; unfold F1; rewrite Hz; reflexivity).
    assert (HB0 : bulge a = 0%Z -> IZR F2 = 0) by (intros Hz; unfold F2; rewrite Hz; reflexivity).
    assert (Hcut : IZR (if whole_reach then 0 else slope a)%Z = S * delta) by (unfold S, delta; destruct whole_reach; simpl; lra).
    change (arc_height a q) with (base a - F1 + F2)%Z. rewrite HL.
    unfold above24, below24. rewrite ?plus_IZR, ?minus_IZR, ?plus_IZR, ?mult_IZR, ?minus_IZR, Hcut.
    split.
    - destruct (Z.eqb_spec (bulge a) 0) as [Hz|Hz]; [|lra].
      assert (H0 : IZR lost = 0) by (unfold lost; rewrite Hz; reflexivity). assert (HBz : B = 0) by (unfold B; rewrite Hz; reflexivity).
      assert (B * mp / 65536 = 0) by (rewrite HBz; field). rewrite (HB0 Hz), H0. lra.
    - destruct (Z.eqb_spec (slope a) 0) as [Hy|Hy]; [|lra].
      assert (HSz : S = 0) by (unfold S; rewrite Hy; reflexivity). assert (S * p / 16777216 = 0) by (rewrite HSz; field).
      assert (S * delta = 0) by (rewrite HSz; ring). rewrite (HS0 Hy). lra.
  Qed.

  (* its least and its greatest between two places *)
  Lemma L_between x y z : y <= x <= z ->
    Rmin (L y) (L z) - Rmax 0 (- IZR (bulge a)) * ((z - y) * (z - y)) / IZR (n * n) <= L x /\
    L x <= Rmax (L y) (L z) + Rmax 0 (IZR (bulge a)) * ((z - y) * (z - y)) / IZR (n * n).
  Proof.
    intros Hx. assert (HR : 0 < IZR n) by (apply IZR_lt; lia). rewrite mult_IZR.
    destruct (Req_dec y z) as [He|He].
    { assert (Hxy : x = y) by lra. rewrite <- He, Hxy. replace ((y - y) * (y - y)) with 0 by ring.
      unfold Rdiv. rewrite !Rmult_0_r, !Rmult_0_l. unfold Rmin, Rmax. repeat destruct Rle_dec; lra. }
    assert (Hc : L x * (z - y) = L y * (z - x) + L z * (x - y) + 4 * IZR (bulge a) * ((x - y) * (z - x)) * (z - y) / (IZR n * IZR n)).
    { unfold L. field. lra. }
    assert (Hq : 0 <= 4 * ((x - y) * (z - x)) <= (z - y) * (z - y)).
    { assert (0 <= (x - y - (z - x)) * (x - y - (z - x))) by apply Rle_0_sqr. split; nra. }
    set (w := 4 * ((x - y) * (z - x))) in *. set (h := (z - y) * (z - y)) in *. set (B := IZR (bulge a)) in *.
    set (i := / (IZR n * IZR n)). assert (Hi : 0 < i) by (apply Rinv_0_lt_compat; nra).
    assert (HwB : - (Rmax 0 (- B) * h * i) <= B * w * i <= Rmax 0 B * h * i).
    { assert (- (Rmax 0 (- B) * h) <= B * w <= Rmax 0 B * h) by (unfold Rmax; repeat destruct Rle_dec; nra).
      split; [replace (- (Rmax 0 (- B) * h * i)) with (- (Rmax 0 (- B) * h) * i) by ring|]; apply Rmult_le_compat_r; lra. }
    replace (4 * B * ((x - y) * (z - x)) * (z - y) / (IZR n * IZR n)) with (B * w * i * (z - y)) in Hc by (unfold w, i; field; lra).
    unfold Rdiv. fold i. pose proof (Rmin_l (L y) (L z)). pose proof (Rmin_r (L y) (L z)). pose proof (Rmax_l (L y) (L z)). pose proof (Rmax_r (L y) (L z)).
    set (lo := Rmin (L y) (L z)) in *. set (hi := Rmax (L y) (L z)) in *.
    assert (lo * (z - x) <= L y * (z - x)) by (apply Rmult_le_compat_r; lra). assert (lo * (x - y) <= L z * (x - y)) by (apply Rmult_le_compat_r; lra).
    assert (L y * (z - x) <= hi * (z - x)) by (apply Rmult_le_compat_r; lra). assert (L z * (x - y) <= hi * (x - y)) by (apply Rmult_le_compat_r; lra).
    split; apply Rmult_le_reg_r with (z - y); try lra.
    - assert (- (Rmax 0 (- B) * h * i) * (z - y) <= B * w * i * (z - y)) by (apply Rmult_le_compat_r; lra). lra.
    - assert (B * w * i * (z - y) <= Rmax 0 B * h * i * (z - y)) by (apply Rmult_le_compat_r; lra). lra.
  Qed.
End Parabola.
