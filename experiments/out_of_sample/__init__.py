"""New points on a map that is there: GOoSE beside its rivals, as in Strange's thesis.

H. Strange, Piecewise-linear manifold learning, PhD thesis, Aberystwyth University, 2011, chapter 5.
"""
