(* The checker with plain Z: ten times slower, and no machine integers among its axioms. *)
From Coq Require Import ZArith List.
From Interval Require Import Float.Specific_stdz Float.Specific_ops.
From DG.cells Require Import whole.
Import ListNotations.
Module F := SpecificFloat StdZRadix2.
Module Plain := Whole F.
Definition precisions : list F.precision := map F.PtoP [64; 128; 512; 2048]%positive.
