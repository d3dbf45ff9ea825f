import type { PlainUses } from './around'

/**
 * English profanity. `{a,b}` is a choice, `~` before a stem finds it inside any word, `*` is a star in place of letters
 * and `?` any sign. All others are whole words, listed with their endings: stems such as `ass`, `cum` or `anal` begin
 * plain words of English (`assonance`) and of other languages (`cumprir`, `análise`). Words of medicine and the law,
 * birds, first names and names of groups are not rude by themselves and are left out.
 */
const WORDS: readonly string[] = [
  // Stems that no plain word holds.
  '~f{u,*}ck',
  '~bitch',
  '~nigger',
  '~faggot',
  '~bullshit',
  '~cocksuck',
  '~{blow,hand}job',
  '~gangbang',
  '~dickhead',
  // Spellings that are meant to get past filters.
  '{,mother}f{?ck,vck,*k,uk,ck,u*k,uxk}{in,ing,ed,er,ers}',
  'f{?ck,vck,*k,u*k,uc*,uxk,ucc}{,s}',
  '{mother,cluster,mind}f*k{,s,ed}',
  'fk{in,ing,er,ers}',
  'fkn',
  'f{uk,ck,k} {you,u,off,me,him,her,this,that,it,them,ya}',
  'what the f{uk,ck,k}',
  'ph{u,uc}k{,ed,er,ers,in,ing}',
  '{sh*t,s*t,shyt,bi*ch,b*ch,c*nt,cu*t,sl*t,tw*t,ni*er,n*er,fa*ot}{,s}',
  'a{*,*s,s*}hole{,s}',
  // Insults of two words
  '{shit,cunt,twat,dick,cock,piss,ass,arse,cum}{face,head,hole,bag,hat,wad,wipe}{,s}',
  '{shitlord,shitstain,shitweasel,wankstain,cumdump,cumbucket,cumrag,twatwaffle,assclown}{,s}',
  // Ass, arse
  'ass{,es,lick,licker,lickers,licking,munch,bandit,bandits}',
  '{dumbasshole,dumbassholes,assholery}',
  '{dumb,smart,fat,candy,jack}ass{,es}',
  'lardass',
  '{,smart}arse{,s,d}',
  // Shit
  'shit{,s,y,ty,tier,tiest,ting,ted,ter,ters,e,faced,load,loads,show,shows,eating,eater,cunt,cunts,work}',
  'shit{storm,storms,post,posts,posting,poster,list,less,bird,can,fest,coin,coins}',
  '{horse,dip,bat,ape,dog,chicken,rat,jack,holy}shit{,s}',
  // Of people
  'bastard{,s}',
  '{biatch,beotch,beeotch}{,es}',
  '{,dumb}cunt{,s,y,ing,ed}',
  'fag{,s,gy}',
  'prick{,s}',
  'retard{,s,ed,edness}',
  'libtard{,s}',
  '{,cum}slut{,s,ty,tier,tiest,tish,shaming}',
  'turd{,s}',
  'twat{,s}',
  'wank{,s,ed,er,ers,ing,y}',
  '{,man}whor{e,es,ed,ing,ish}',
  '{knobhead,bellend}{,s}',
  'cuck{,s,ed}',
  'douchebag{,s}',
  // Of what people do
  'piss{,es,ed,er,ers,ing,y,off,take,takes}',
  'cum{,s,ming,shot,shots}',
  'jizz{,ed,ing}',
  'blow job{,s}',
  '{rim,lube}job{,s}',
  '{jerk,jack}{,ing}{, }off',
  'suck my {dick,cock,balls}',
  '{deepthroat,fingerbang,felch}{,s,ed,ing,es}',
  'finger bang{,ed,ing}',
  'fisting',
  'dildo{,s,es}',
  'dog{gy,gie}{, }style',
  'double penetration',
  // Of bodies
  'bollock{,s,ed,ing,ings}',
  'boob{,s,ies}',
  'puss{y,ies}',
  'tit{ties,fuck}',
  'tiddies',
  // Of groups
  'nigg{a,as,az,ah}',
  'nig{,s}',
  'kike{,s}',
  'chink{,s}',
  'ching{, ,-}chong{,s}',
  'trann{y,ies}',
  '{africoon,boonga}{,s}',
  'arabush',
  'abbo{,s}',
]
/** Found when spelled letter by letter, with anything in between: `f-u-c-k`. */
const SPELLED = ['fuck', 'shit', 'bitch', 'cunt', 'nigger', 'nigga', 'asshole', 'whore', 'slut', 'faggot', 'wanker']

/** Found only with a sign or figure for a letter: `f@ck` reads as `fack`, which by itself is something else. */
const FIGURES: readonly string[] = ['f{a,e,i,o}ck{,s,ed,er,ers,in,ing}']

/** Plain words that hold a stem of the list, or look like one of its words with a doubled letter. */
const PLAIN_WORDS: readonly string[] = [
  'snigger{,s,ed,er,ers,ing,ingly}',
  'bitche',
  'kikke{,s}',
  'slutt',
  'shiite{,s}',
  'aass',
  'assess',
  'twatt',
]

/** Plain uses in English of words of the list. */
const PLAIN_USES: PlainUses = {
  ass: /\.\[|(?:wild|pack|somali|nubian|asiatic) \[|\][ -](?:dur|moll)\b|\]\.(?::|[ -]?(?:prof|jur|dir|manager|coach|editor))/,
  asses: /(?:wild|pack|of) \[/,
  boobies: /(?:footed|brown|masked|peruvian|nazca) \[/,
  chink: /\] (?:in|of|through|between)\b/,
  chinks: /\] (?:in|of|through|between)\b/,
  cum: /-\[cum\]-|\[cum\] (?:laude|suis|dividend|div|rights|grano|testamento)\b/,
  cumming: /\balan \[|\], (?:georgia|ga)\b/,
  kike: /\]"? hernandez\b/,
  prick: /\] (?:the|it|them|each|all|your|his|her|my|with|up|holes|tests?|testing)\b|(?:pin|skin) \[/,
  pricks: /\] (?:the|it|them|each|all|your|his|her|my|with|up)\b|(?:pin|skin) \[/,
  pussy: /\][ -](?:cats?|willows?|riot|foot)\b/,
  retard: /\] (?:the|its|their|growth|progress|development|ignition)\b|\bto \[/,
  retarded: /\] (?:potentials?|time|growth|ignition|greens?)\b/,
}

/** Words that are plain in other languages. */
const PLAIN_ELSEWHERE: readonly string[] = `
  ass asses arse arses cum fag fags kike kikes nig nigs prick pricks retard retards shite slut sluts wank abbo
  abbos turd bellend fuker fukers shiit shiits`
  .trim()
  .split(/\s+/)

export const ENGLISH = { WORDS, SPELLED, FIGURES, PLAIN_WORDS, PLAIN_USES, PLAIN_ELSEWHERE }

/** All words that a notation with choices stands for. */
export function expanded(notation: string): string[] {
  const choice = /\{([^{}]*)\}/.exec(notation)
  if (!choice) return [notation]
  const [all, inner] = choice
  return inner!.split(',').flatMap((one) => expanded(notation.replace(all, one)))
}
