class Sample: pass
