(* The checker with integers of any size as Coq's kernel computes with them. *)
From Coq Require Import ZArith List.
From Interval Require Import Float.Specific_bigint Float.Specific_ops.
From DG.cells Require Import whole.
Import ListNotations.
Module F := SpecificFloat BigIntRadix2.
Module Big := Whole F.
Definition precisions : list F.precision := map F.PtoP [64; 128; 512; 2048]%positive.
