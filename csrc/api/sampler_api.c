/* TEMPORARY */
#include "discretegauss.h"
#include "law/law.h"
#include <stdlib.h>
#include <string.h>
struct dg_sampler { dg_law *law; dg_table *t; dg_lanes *l; dg_isochronous *o; dg_sampler_info i; };
static size_t budget = 64 << 20;
dg_status dg_sampler_new(dg_sampler **s, dg_law_kind kind, const dg_parameters *p){
  dg_law *law; *s=NULL; dg_status st=dg_law_new(&law,kind,DG_ARITHMETIC_AUTO,p); if(st!=DG_OK) return st;
  *s=calloc(1,sizeof **s); (*s)->law=law; return DG_OK; }
void dg_sampler_free(dg_sampler *s){ if(s==NULL) return; dg_table_free(s->t); dg_lanes_free(s->l); dg_isochronous_free(s->o); dg_law_free(s->law); free(s);}
size_t dg_sampler_wide_bytes(const dg_sampler *s){return dg_law_wide_bytes(s->law);}
dg_status dg_sampler_choose(dg_method *way,size_t n,dg_method m,dg_sampler *s,const dg_run *run,const dg_source *src){
  (void)run; const int ref = s->law->kind != DG_GENERALIZED_GAUSSIAN;
  const int caller = src!=NULL&&src->kind==DG_SOURCE_CALLER;
  if(m==DG_AUTO) { m = s->law->kind<DG_DISCRETE_LAPLACE?DG_REFERENCE: n>=5000||(!caller&&s->t)?DG_CELLS: ref? (n>=128&&!caller? DG_ISOCHRONOUS:DG_REFERENCE):DG_ISOCHRONOUS; }
  dg_status st=DG_OK;
  if(m==DG_CELLS&&!s->t) { st=dg_table_new(&s->t,s->law,16,-1,DG_ISA_AUTO); if(st==DG_OK){s->i.n_built++; s->i.has_table=1; dg_table_info f; dg_table_describe(&f,s->t); s->i.chunk=f.chunk; s->i.table_bytes=f.memory;} }
  if(m==DG_ISOCHRONOUS&&!s->l) st=dg_lanes_new(&s->l,s->law,DG_ISA_AUTO);
  if(m==DG_REFERENCE&&!ref) st=DG_ERR_PARAMETER;
  *way=m; return st; }
dg_status dg_sampler_fill(void *out,size_t n,dg_dtype d,dg_method m,dg_sampler *s,const dg_run *run,const dg_source *src){
  dg_method w; dg_status st=dg_sampler_choose(&w,n,m,s,run,src); if(st!=DG_OK) return st;
  if(w==DG_CELLS){s->i.by_cells+=n; return dg_table_fill(out,n,d,s->t,run,src);} if(w==DG_ISOCHRONOUS){s->i.by_lanes+=n;return dg_lanes_fill(out,n,d,s->l,run,src);} s->i.by_reference+=n; return dg_law_fill(out,n,d,s->law,run,src);}
dg_status dg_sampler_fill_wide(uint8_t *out,size_t n,size_t b,dg_method m,dg_sampler *s,const dg_run *run,const dg_source *src){
  dg_method w; dg_status st=dg_sampler_choose(&w,n,m,s,run,src); if(st!=DG_OK) return st;
  if(w==DG_CELLS) return dg_table_fill_wide(out,n,b,s->t,run,src); if(w==DG_ISOCHRONOUS) return dg_lanes_fill_wide(out,n,b,s->l,run,src); return dg_law_fill_wide(out,n,b,s->law,run,src);}
static dg_isochronous *one(dg_sampler *s){ if(!s->o&&s->law->kind>=DG_DISCRETE_LAPLACE) (void)dg_isochronous_new(&s->o,s->law); return s->o;}
dg_status dg_sampler_draw_wide(uint8_t *out,size_t b,dg_method m,dg_sampler *s,const dg_source *src){
  if(m==DG_AUTO||m==DG_ISOCHRONOUS){ if(one(s)) return dg_isochronous_draw_wide(out,b,s->o,src); if(m==DG_ISOCHRONOUS) return DG_ERR_PARAMETER; }
  return dg_sampler_fill_wide(out,1,b,m==DG_AUTO?(s->law->kind==DG_GENERALIZED_GAUSSIAN?DG_CELLS:DG_REFERENCE):m,s,NULL,src);}
int64_t dg_sampler_draw(dg_method m,dg_sampler *s,const dg_source *src){ (void)m; return dg_isochronous_draw(one(s),src);}
int dg_sampler_fits_int64(const dg_sampler *s){ dg_isochronous_info f; dg_sampler *c=(dg_sampler*)(uintptr_t)s; if(!one(c)) return 0; dg_isochronous_describe(&f,c->o); return f.fits_int64;}
void dg_sampler_describe(dg_sampler_info *i,const dg_sampler *s){*i=s->i;}
size_t dg_tables_bytes(void){return 0;} size_t dg_tables_budget(void){return budget;} void dg_tables_set_budget(size_t n){budget=n;}
