"""Families that read images as timm stores them, and the towers of CLIP and SigLIP."""
