(* The look-up (PROOF.md, lemma 5; fact 5): a row and, where it is mixed, a position make a uniform cell.

   `look` is what look_up_portable.c and find_special (draw.c) do. `layout_ok` counts by pieces of rows, never by
   positions: the pieces of codes add up to full_j, the special pieces lie one behind the other, in the order of
   the rows, from the first special cell to the last; and the partial cells are those above the full ones.
   Theorem layout_right: then each of the 2^b cells comes equally often. *)
From Coq Require Import Reals Lra Lia ZArith List Bool Arith.
From Coquelicot Require Import Coquelicot.
From DG.exact Require Import programs.
From DG.cells Require Import compare table.
Import ListNotations.
Open Scope R_scope.

Definition special_code := 255%Z.
Record row := { end0 : Z; end1 : Z; code0 : Z; code1 : Z; code2 : Z; whole : Z; special : Z }.

Record layout := {
  row_bits : nat; position_bits : nat; tail_bits : nat;
  first_block : Z; count : nat;           (* the core's blocks *)
  coded_first : Z; rows : list row;
  uncoded : list Z;                       (* blocks of the full cells without a code *)
  partials : list (Z * Z);                (* block, level *)
  rejects : nat }.

(* ---- sums ---- *)
Definition range (a e : Z) : list Z := map (fun i => (a + i)%Z) (zs (Z.to_nat (e - a))).

Lemma zs_add m n : zs (m + n) = zs m ++ map (fun i => (Z.of_nat m + i)%Z) (zs n).
Proof.
  unfold zs. rewrite seq_app, map_app. f_equal. rewrite map_map. rewrite Nat.add_0_l.
  transitivity (map Z.of_nat (map (fun i => m + i)%nat (seq 0 n))).
  - f_equal. clear. revert m. assert (H : forall n s m, seq (m + s) n = map (fun i => m + i)%nat (seq s n)).
    { induction n0 as [|n0 IH]; intros s m; [reflexivity|]. cbn [seq map]. f_equal. rewrite <- (IH (S s) m). f_equal. lia. }
    intros m. rewrite <- (H n 0%nat m). f_equal. lia.
  - rewrite map_map. apply map_ext. intros i. lia.
Qed.

Lemma range_split a b e : (a <= b <= e)%Z -> range a e = range a b ++ range b e.
Proof.
  intros H. unfold range. replace (Z.to_nat (e - a)) with (Z.to_nat (b - a) + Z.to_nat (e - b))%nat by lia.
  rewrite zs_add, map_app, map_map. f_equal. apply map_ext. intros i. lia.
Qed.
Lemma range_in a e p : In p (range a e) -> (a <= p < e)%Z.
Proof. unfold range. rewrite in_map_iff. intros (i & <- & H). apply zs_in in H. lia. Qed.
Lemma range_zs n : range 0 (Z.of_nat n) = zs n.
Proof. unfold range. rewrite Z.sub_0_r, Nat2Z.id. rewrite <- map_id. apply map_ext. intros i. lia. Qed.
Lemma total_const {A} c (l : list A) : total (fun _ => c) l = INR (length l) * c.
Proof. induction l as [|a l IH]; [simpl; lra|]. cbn [total length]. rewrite IH, S_INR. lra. Qed.
Lemma range_length a e : (a <= e)%Z -> INR (length (range a e)) = IZR (e - a).
Proof. intros H. unfold range, zs. rewrite !map_length, seq_length, INR_IZR_INZ, Z2Nat.id by lia. reflexivity. Qed.
Lemma total_plus {A} (f g : A -> R) l : total (fun a => f a + g a) l = total f l + total g l.
Proof. induction l as [|a l IH]; simpl; [ring|]. rewrite IH. ring. Qed.
Lemma total_nth {A} (f : A -> R) (l : list A) x0 : total (fun i => f (nth (Z.to_nat i) l x0)) (zs (length l)) = total f l.
Proof.
  induction l as [|a l IH]; [reflexivity|]. change (length (a :: l)) with (1 + length l)%nat. rewrite zs_add, total_app, total_map.
  change (zs 1) with [0%Z]. cbn [total]. change (nth (Z.to_nat 0) (a :: l) x0) with a. rewrite Rplus_0_r. f_equal. rewrite <- IH. apply total_ext.
  intros i Hi. apply zs_in in Hi. f_equal. replace (Z.to_nat (Z.of_nat 1 + i)) with (S (Z.to_nat i)) by lia. reflexivity.
Qed.

Lemma nth_zs {A} (h : Z -> A) m i x0 : (i < m)%nat -> nth i (map h (zs m)) x0 = h (Z.of_nat i).
Proof.
  intros Hi. rewrite (nth_indep _ x0 (h 0%Z)) by (unfold zs; rewrite !map_length, seq_length; lia).
  rewrite map_nth. unfold zs. change 0%Z with (Z.of_nat 0). now rewrite map_nth, seq_nth by lia.
Qed.

Section Look.
  Variable t : layout.
  Definition size : Z := (2 ^ Z.of_nat (position_bits t))%Z.
  Definition no_row : row := Build_row 0 0 0 0 0 0 0.

  (* cells n_coded, n_coded + 1, ... in the table's order *)
  Definition specials : list cell :=
    map Full (uncoded t) ++ map (fun c => Partial (fst c) (Z.to_nat (snd c))) (partials t)
    ++ flat_map (fun side => map (Tail side) (zs (2 ^ tail_bits t)) ++ map (Tail side) (zs (2 ^ tail_bits t))) [false; true]
    ++ repeat Reject (rejects t).
  Definition special_cell (i : Z) : cell := nth (Z.to_nat i) specials Reject.

  Definition code_at (r : row) (p : Z) : Z :=
    if (p <? end0 r)%Z then (if (p <? end1 r)%Z then code0 r else code1 r)
    else (if (p <? end1 r)%Z then code1 r else code2 r).
  Definition found_at (r : row) (p : Z) : found :=
    if (code_at r p =? special_code)%Z then Special (special_cell ((p + special r) mod 65536))
    else Coded (coded_first t + code_at r p).
  Definition look (i : Z) : tree found :=
    let r := nth (Z.to_nat i) (rows t) no_row in
    if (whole r =? special_code)%Z then bind (number (position_bits t)) (fun p => Ret (found_at r p))
    else Ret (Coded (coded_first t + whole r)).

  (* pieces: code, start, end; and where a special one begins *)
  Definition pieces (r : row) : list (Z * Z * Z) :=
    if (whole r =? special_code)%Z then [(code0 r, 0, end0 r); (code1 r, end0 r, end1 r); (code2 r, end1 r, size)]%Z
    else [(whole r, 0, size)]%Z.
  Definition fulls_of (r : row) : list (Z * Z) :=
    flat_map (fun '(c, a, e) => if (c =? special_code)%Z then [] else [(coded_first t + c, e - a)%Z]) (pieces r).
  Definition ranges_of (r : row) : list (Z * Z) :=
    flat_map (fun '(c, a, e) => if (c =? special_code)%Z && (a <? e)%Z then [((a + special r) mod 65536, e - a)%Z] else []) (pieces r).

  Definition row_ok (r : row) : bool := ((0 <=? end0 r) && (end0 r <=? end1 r) && (end1 r <=? size))%Z.
  Fixpoint tiles (at_ : Z) (l : list (Z * Z)) (stop : Z) : bool :=
    match l with
    | [] => (at_ =? stop)%Z
    | (a, n) :: l => ((a =? at_) && (0 <=? n))%Z && tiles (at_ + n) l stop
    end.
  Definition fits (l : list (Z * Z)) : bool := forallb (fun '(a, n) => (a + n <=? 65536)%Z) l.

  Definition fulls : list (Z * Z) := flat_map fulls_of (rows t) ++ map (fun j => (j, 1%Z)) (uncoded t).
  Definition full_z (j : Z) : Z := fold_right (fun x acc => if (fst x =? j)%Z then (snd x + acc)%Z else acc) 0%Z fulls.
  Definition partial_z (j : Z) : Z := fold_right (fun x acc => if (fst x =? j)%Z then (1 + acc)%Z else acc) 0%Z (partials t).
  Definition full (j : Z) : nat := Z.to_nat (full_z j).
  Definition n (j : Z) : nat := Z.to_nat (full_z j + partial_z j).
  Definition core : list (Z * Z) := map (fun k => let f := full_z (first_block t + k) in (f, f + partial_z (first_block t + k)))%Z (zs (count t)).

  Fixpoint levels (l : list Z) (j f : Z) (m : nat) : list (Z * Z) := (* m partial cells of block j from level f on *)
    match m with O => [] | S m => (j, f) :: levels l j (f + 1) m end.
  Definition expected (core : list (Z * Z)) : list (Z * Z) :=
    flat_map (fun x => let '(k, (f, n)) := x in levels [] (first_block t + k) f (Z.to_nat (n - f)))%Z (combine (zs (count t)) core).
  Fixpoint same (l m : list (Z * Z)) : bool :=
    match l, m with
    | [], [] => true
    | (a, b) :: l, (c, d) :: m => ((a =? c) && (b =? d))%Z && same l m
    | _, _ => false
    end.

  Lemma partial_z_nonneg j : (0 <= partial_z j)%Z.
  Proof.
    unfold partial_z. generalize (partials t). intros l. induction l as [|x l IH]; cbn [fold_right]; [lia|]. destruct (fst x =? j)%Z; lia.
  Qed.

  Definition in_core (j : Z) : bool := ((first_block t <=? j) && (j <? first_block t + Z.of_nat (count t)))%Z.
  Definition layout_ok : bool :=
    (Z.of_nat (length (rows t)) =? 2 ^ Z.of_nat (row_bits t))%Z
    && forallb row_ok (rows t)
    && forallb (fun x => in_core (fst x) && (0 <=? snd x)%Z) fulls
    && fits (flat_map ranges_of (rows t))
    && tiles 0 (flat_map ranges_of (rows t)) (Z.of_nat (length specials))
    && same (partials t) (expected core).

  (* ---- what that implies ---- *)
  Variable f : cell -> R.
  Definition piece_total (sp : Z) (x : Z * Z * Z) : R := let '(c, a, e) := x in
    if (c =? special_code)%Z then total (fun p => f (special_cell ((p + sp) mod 65536))) (range a e)
    else IZR (e - a) * f (Full (coded_first t + c)).

  Lemma piece_is r c a e : (a <= e)%Z -> (forall p, (a <= p < e)%Z -> code_at r p = c) ->
    total (fun p => f (cell_of (found_at r p))) (range a e) = piece_total (special r) (c, a, e).
  Proof.
    intros Hae Hc. unfold piece_total. destruct (Z.eqb_spec c special_code) as [He|He].
    - apply total_ext. intros p Hp. apply range_in in Hp. unfold found_at. rewrite (Hc p Hp).
      destruct (Z.eqb_spec c special_code); [reflexivity | contradiction].
    - rewrite <- range_length by exact Hae. rewrite <- (total_const _ (range a e)). apply total_ext. intros p Hp. apply range_in in Hp.
      unfold found_at. rewrite (Hc p Hp). destruct (Z.eqb_spec c special_code); [contradiction | reflexivity].
  Qed.

  Lemma size_nat : size = Z.of_nat (2 ^ position_bits t).
  Proof. unfold size. rewrite Nat2Z.inj_pow. reflexivity. Qed.

  Hypothesis Hf : unit_f f.

  Lemma row_total i : row_ok (nth (Z.to_nat i) (rows t) no_row) = true ->
    E (look i) (fun x => f (cell_of x)) =
    / 2 ^ position_bits t * total (piece_total (special (nth (Z.to_nat i) (rows t) no_row))) (pieces (nth (Z.to_nat i) (rows t) no_row)).
  Proof.
    unfold look. set (r := nth _ _ _). intros Hr. unfold row_ok in Hr. rewrite !andb_true_iff, !Z.leb_le in Hr.
    destruct Hr as [[H1 H2] H3]. assert (Hu : unit_f (fun x : found => f (cell_of x))) by (intros x; apply Hf).
    pose proof (two_pow (position_bits t)) as Hp. unfold pieces.
    destruct (Z.eqb_spec (whole r) special_code) as [Hw|Hw].
    - rewrite E_bind by exact Hu. rewrite (E_ext _ _ (fun p => f (cell_of (found_at r p)))) by (intros p; now rewrite E_Ret).
      rewrite number_law by (intros p; apply Hf). f_equal. rewrite <- range_zs, <- size_nat.
      rewrite (range_split 0 (end0 r) size), (range_split (end0 r) (end1 r) size) by lia. rewrite !total_app.
      rewrite (piece_is r (code0 r) 0 (end0 r)), (piece_is r (code1 r) (end0 r) (end1 r)), (piece_is r (code2 r) (end1 r) size); try lia.
      + cbn [total]. ring.
      + intros p Hp'. unfold code_at. destruct (Z.ltb_spec p (end0 r)), (Z.ltb_spec p (end1 r)); (reflexivity || lia).
      + intros p Hp'. unfold code_at. destruct (Z.ltb_spec p (end0 r)), (Z.ltb_spec p (end1 r)); (reflexivity || lia).
      + intros p Hp'. unfold code_at. destruct (Z.ltb_spec p (end0 r)), (Z.ltb_spec p (end1 r)); (reflexivity || lia).
    - rewrite E_Ret. cbn [total]. unfold piece_total. destruct (Z.eqb_spec (whole r) special_code); [contradiction|].
      rewrite Z.sub_0_r, size_nat, <- INR_IZR_INZ, pow_INR. replace (INR 2) with 2 by (simpl; lra). simpl cell_of. field. lra.
  Qed.

  (* full cells and special ones apart *)
  Definition fulls_total (l : list (Z * Z)) : R := total (fun x => IZR (snd x) * f (Full (fst x))) l.
  Definition ranges_total (l : list (Z * Z)) : R := total (fun x => total (fun i => f (special_cell i)) (range (fst x) (fst x + snd x))) l.

  Lemma piece_apart sp c a e : (a <= e)%Z -> ((c =? special_code)%Z && (a <? e)%Z = true -> (((a + sp) mod 65536) + (e - a) <= 65536)%Z) ->
    piece_total sp (c, a, e) =
    fulls_total (if (c =? special_code)%Z then [] else [(coded_first t + c, e - a)%Z]) +
    ranges_total (if (c =? special_code)%Z && (a <? e)%Z then [((a + sp) mod 65536, e - a)%Z] else []).
  Proof.
    intros Hae Hfit. unfold piece_total, fulls_total, ranges_total. destruct (c =? special_code)%Z; simpl andb in *.
    - destruct (Z.ltb_spec a e) as [Hl|Hl].
      + cbn [total fst snd]. rewrite Rplus_0_l, Rplus_0_r. unfold range.
        replace (((a + sp) mod 65536 + (e - a) - (a + sp) mod 65536))%Z with (e - a)%Z by lia.
        rewrite !total_map. apply total_ext. intros i Hi. apply zs_in in Hi. specialize (Hfit eq_refl). f_equal. f_equal.
        rewrite Z.add_comm with (n := a) (m := i), <- Z.add_assoc. rewrite <- Zplus_mod_idemp_r.
        rewrite Z.mod_small by (pose proof (Z.mod_pos_bound (a + sp) 65536 ltac:(lia)); lia). lia.
      + replace e with a by lia. unfold range. rewrite Z.sub_diag. simpl. lra.
    - cbn [total fst snd]. lra.
  Qed.

  Lemma row_apart r : row_ok r = true -> fits (ranges_of r) = true ->
    total (piece_total (special r)) (pieces r) = fulls_total (fulls_of r) + ranges_total (ranges_of r).
  Proof.
    intros Hr Hfit. unfold row_ok in Hr. rewrite !andb_true_iff, !Z.leb_le in Hr. destruct Hr as [[H1 H2] H3].
    unfold fits in Hfit. rewrite forallb_forall in Hfit.
    assert (Hp : forall x, In x (pieces r) -> (snd (fst x) <= snd x)%Z).
    { intros x. unfold pieces. destruct (whole r =? special_code)%Z; simpl; intros H; repeat destruct H as [<-|H]; simpl; try lia; easy. }
    unfold fulls_of, ranges_of in *. unfold fulls_total, ranges_total. rewrite !total_flat_map, <- total_plus.
    apply total_ext. intros [[c a] e] Hx. apply (piece_apart (special r) c a e); [exact (Hp _ Hx)|]. intros Hca.
    specialize (Hfit ((a + special r) mod 65536, e - a)%Z). simpl in Hfit. apply Z.leb_le, Hfit. apply in_flat_map.
    exists (c, a, e). split; [exact Hx|]. rewrite Hca. now left.
  Qed.

  Lemma tiled l : forall at_ stop, tiles at_ l stop = true -> (0 <= at_)%Z ->
    ranges_total l = total (fun i => f (special_cell i)) (range at_ stop) /\ (at_ <= stop)%Z.
  Proof.
    induction l as [|[a m] l IH]; intros at_ stop H H0; simpl in H.
    - apply Z.eqb_eq in H. subst. unfold range. rewrite Z.sub_diag. split; [reflexivity | lia].
    - apply andb_true_iff in H as [H Ht]. apply andb_true_iff in H as [Ha Hm]. apply Z.eqb_eq in Ha. apply Z.leb_le in Hm. subst a.
      destruct (IH _ _ Ht ltac:(lia)) as [He Hle]. split; [|lia]. unfold ranges_total in *. cbn [total fst snd]. rewrite He.
      rewrite (range_split at_ (at_ + m) stop) by lia. now rewrite total_app.
  Qed.

  Lemma full_nonneg_list l : forallb (fun x => in_core (fst x) && (0 <=? snd x)%Z) l = true -> forall j,
    (0 <= fold_right (fun x acc => if (fst x =? j)%Z then (snd x + acc)%Z else acc) 0 l)%Z.
  Proof.
    intros H j. induction l as [|x l IH]; simpl in *; [lia|]. apply andb_true_iff in H as [H Hl]. apply andb_true_iff in H as [_ H].
    apply Z.leb_le in H. specialize (IH Hl). destruct (fst x =? j)%Z; lia.
  Qed.

  Lemma fulls_by_block l : forallb (fun x => in_core (fst x) && (0 <=? snd x)%Z) l = true ->
    fulls_total l = total (fun i => IZR (fold_right (fun x acc => if (fst x =? first_block t + i)%Z then (snd x + acc)%Z else acc) 0%Z l)
      * f (Full (first_block t + i))) (zs (count t)).
  Proof.
    induction l as [|[j m] l IH]; intros H.
    - simpl. unfold fulls_total. simpl. symmetry. apply total_zero. intros; lra.
    - simpl in H. apply andb_true_iff in H as [H Hl]. apply andb_true_iff in H as [Hj _]. unfold in_core in Hj.
      rewrite andb_true_iff, Z.leb_le, Z.ltb_lt in Hj. unfold fulls_total. cbn [total fst snd]. fold (fulls_total l). rewrite (IH Hl).
      replace (IZR m * f (Full j)) with (total (fun i => if (j =? first_block t + i)%Z then IZR m * f (Full j) else 0) (zs (count t))).
      + rewrite <- total_plus. apply total_ext. intros i _. cbn [fold_right fst snd].
        destruct (Z.eqb_spec j (first_block t + i)) as [->|]; [rewrite plus_IZR|]; ring.
      + rewrite pick. destruct (Z.leb_spec (first_block t) j), (Z.ltb_spec j (first_block t + Z.of_nat (count t))); simpl; (reflexivity || lia).
  Qed.

  Lemma levels_is l j m : forall a, (0 <= a)%Z -> map (fun c => Partial (fst c) (Z.to_nat (snd c))) (levels l j a m) = map (Partial j) (seq (Z.to_nat a) m).
  Proof.
    induction m as [|m IH]; intros a Ha; [reflexivity|]. cbn [levels map seq fst snd]. f_equal. rewrite IH by lia. do 2 f_equal. lia.
  Qed.
  Lemma same_right l : forall m, same l m = true -> l = m.
  Proof.
    induction l as [|[a b] l IH]; intros [|[c d] m] H; simpl in H; try easy. apply andb_true_iff in H as [H Hl].
    apply andb_true_iff in H as [H1 H2]. apply Z.eqb_eq in H1, H2. rewrite (IH m Hl). congruence.
  Qed.

  Hypothesis ok : layout_ok = true.

  Lemma partials_total :
    total f (map (fun c => Partial (fst c) (Z.to_nat (snd c))) (partials t)) =
    total (fun i => total f (map (Partial (first_block t + i)) (seq (full (first_block t + i)) (n (first_block t + i) - full (first_block t + i))))) (zs (count t)).
  Proof.
    pose proof ok as H. unfold layout_ok in H. rewrite !andb_true_iff in H. destruct H as [[[[[_ _] Hfull] _] _] Hs].
    apply same_right in Hs. rewrite Hs. unfold expected.
    assert (Hc : combine (zs (count t)) core = map (fun k => (k, (full_z (first_block t + k), full_z (first_block t + k) + partial_z (first_block t + k)))%Z) (zs (count t))).
    { unfold core. generalize (zs (count t)). intros l. induction l as [|a l IH]; [reflexivity|]. simpl. now rewrite IH. }
    rewrite Hc. clear Hc. rewrite flat_map_concat_map, map_map, <- flat_map_concat_map.
    generalize (zs (count t)). intros l. induction l as [|i l IH]; [reflexivity|].
    cbn [flat_map total]. rewrite map_app, total_app. f_equal; [|exact IH].
    pose proof (full_nonneg_list fulls Hfull (first_block t + i)) as H0. fold (full_z (first_block t + i)) in H0.
    rewrite levels_is by exact H0. f_equal. f_equal. unfold full, n. f_equal. lia.
  Qed.

  Theorem layout_right : E (cells_read (row_bits t) look) f =
    / 2 ^ (row_bits t + position_bits t) * total f (all_cells (tail_bits t) (first_block t) (count t) n full (rejects t)).
  Proof.
    pose proof ok as H. unfold layout_ok in H. rewrite !andb_true_iff in H. destruct H as [[[[[Hlen Hrows] Hfull] Hfit] Htile] Hsame].
    apply Z.eqb_eq in Hlen. rewrite forallb_forall in Hrows.
    assert (Hn : length (rows t) = (2 ^ row_bits t)%nat).
    { apply Nat2Z.inj. rewrite Hlen, Nat2Z.inj_pow. reflexivity. }
    unfold cells_read. rewrite E_bind by exact Hf.
    rewrite number_law by (intros i; now apply E_unit).
    rewrite (total_ext _ (fun i => / 2 ^ position_bits t * (fun r => total (piece_total (special r)) (pieces r)) (nth (Z.to_nat i) (rows t) no_row))).
    2: { intros i Hi. apply zs_in in Hi. rewrite E_bind by exact Hf.
         rewrite (E_ext _ _ (fun x => f (cell_of x))) by (intros x; now rewrite E_Ret). apply row_total.
         apply Hrows, nth_In. lia. }
    rewrite total_scal, <- Hn, (total_nth (fun r => total (piece_total (special r)) (pieces r))).
    assert (Hsum : total (fun r => total (piece_total (special r)) (pieces r)) (rows t) =
      fulls_total (flat_map fulls_of (rows t)) + ranges_total (flat_map ranges_of (rows t))).
    { unfold fulls_total, ranges_total. rewrite !total_flat_map, <- total_plus. apply total_ext. intros r Hr. apply row_apart; [now apply Hrows|].
      unfold fits in *. rewrite forallb_forall in *. intros x Hx. apply Hfit. apply in_flat_map. now exists r. }
    rewrite Hsum. destruct (tiled _ _ _ Htile ltac:(lia)) as [-> _]. rewrite range_zs. unfold special_cell.
    rewrite total_nth. unfold specials. rewrite !total_app, partials_total.
    assert (Hfu : fulls_total (flat_map fulls_of (rows t)) + total f (map Full (uncoded t)) = fulls_total fulls).
    { unfold fulls, fulls_total. rewrite total_app, !total_map. f_equal. apply total_ext. intros j _. simpl. lra. }
    rewrite <- Rplus_assoc, Hfu, (fulls_by_block fulls Hfull).
    unfold all_cells. rewrite !total_app, (total_flat_map f (fun k => core_cells n full (first_block t + k)%Z)).
    rewrite (total_ext (fun k => total f (core_cells n full (first_block t + k)))
      (fun k => IZR (full_z (first_block t + k)) * f (Full (first_block t + k)) + total f (map (Partial (first_block t + k))
         (seq (full (first_block t + k)) (n (first_block t + k) - full (first_block t + k)))))).
    2: { intros i _. unfold core_cells. rewrite total_app, total_repeat. f_equal. unfold full at 1.
         pose proof (full_nonneg_list fulls Hfull (first_block t + i)). fold (full_z (first_block t + i)) in *. rewrite INR_IZR_INZ, Z2Nat.id by assumption. reflexivity. }
    rewrite total_plus.
    assert (Ht : forall side, total f (tail_cells (tail_bits t) side) = total f (map (Tail side) (zs (2 ^ tail_bits t))) + total f (map (Tail side) (zs (2 ^ tail_bits t)))).
    { intros side. unfold tail_cells. rewrite total_flat_map, !total_map, <- total_plus. apply total_ext. intros p _. simpl. lra. }
    rewrite !Ht. cbn [flat_map]. rewrite !total_app. cbn [total]. rewrite pow_add.
    pose proof (two_pow (row_bits t)). pose proof (two_pow (position_bits t)). unfold full_z. field. lra.
  Qed.
End Look.
