/** Parts of the rules' patterns: gaps, and the words for each idea. */

export const GAP = '[^.!?]{0,40}?'
export const NEAR = '[^.!?]{0,20}?'
export const LINKS = "(?:[\\w'-]+[ ,]+){0,3}?"

export const DROP =
  'ignore|ignor|disregard|forget|bypass|override|overrule|circumvent|neglect|disobey|violate|nullify|unlearn|discard|' +
  'dismiss|abandon|cancel|void|rescind|erase|wipe out|set aside|throw (?:out|away)|cast aside|put aside|' +
  'pay no (?:attention|heed) to|take no notice of|stop (?:following|obeying|applying)|' +
  "(?:do not|don't|never|no longer) (?:follow|obey|comply with|adhere to|apply|listen to)"
export const PRIOR =
  'previous|prior|above|earlier|preceding|foregoing|initial|original|system|developer|safety|built-in|existing|former|' +
  'platform|hidden|default|ethical|core|provider|operator|your|thy|past|outside'
export const RULES_WORD =
  'instructions?|instructed|directions?|rules?|guidelines?|prompts?|directives?|commands?|orders?|constraints?|' +
  'restrictions?|guardrails?|safeguards?|programming|training|messages?|policies|policy|limits|limitations|' +
  'system text|briefing|polic(?:y|ies)'

/** Lookahead: the instructions are not those found in a document, which may be ignored. */
export const OF_DATA =
  '(?! (?:(?:that|which) (?:appear|are (?:found|hidden|embedded|contained|written)|come|it contains|may)|found|inside|in (?:the|a|an|any|this|that|these|tool|web|user)|' +
  'within|embedded|contained|hidden in|written in|it contains|buried|placed|from (?:the |a |an |any )?(?:document|page|e-?mail|web|file|tool|text|attachment|customer|quoted|repository|issue)))'

export const SECRET_TEXT =
  '(?:system|hidden|initial|original|secret|internal|developer|base|full|pre) ?-?(?:prompt|directives?|configuration text)|(?:system|hidden|secret|developer|(?:full|initial|original) (?:system|developer)) ?-?message|' +
  '(?:system|hidden|initial|original|secret|developer) (?:instructions?|guidelines)|' +
  'instructions (?:above verbatim|verbatim|you were given|given to you)|your (?:exact |full |entire |complete |own |very )?(?:prompt|instructions|preamble)(?! (?:for|on|to|of|about))|' +
  'the (?:exact|entire|complete|whole) (?:prompt|preamble)|' +
  'everything (?:above|before this|written above)(?! (?:sea|the|average|zero|\\d))|all (?:the )?(?:text|words|content) above|first (?:message|lines?) of (?:this|the) (?:conversation|context)|initialization text'
export const SHOW =
  'reveal|show|print|output|repeat|display|disclose|tell (?:me|us|the user|them)|give (?:me|us)|leak|expose|dump|share|recite|' +
  'write out|echo|spell out|read (?:out|back)|return|paste|quote|regurgitate|divulge|spill|hand over|append|copy out'

export const PRIVATE =
  '(?:whole |entire |full |complete |raw )?(?:conversation|chat (?:history|log)|dialog(?:ue)?|transcript|message history)|conversations?|' +
  "(?:user|customer|other user|everyone)(?:'?s|s')? (?:private |personal )?(?:data|messages?|input|files|e-?mails?|address(?:es)?|credentials?|passwords?|secrets?|details|information|conversations?)|" +
  'personal (?:data|information)|api[ _-]?keys?|credentials?|secrets|passwords?|access tokens?|auth tokens?|session tokens?|cookies|' +
  'everything (?:the user|they|you)|all (?:prior|previous|user) messages|card numbers?|credit cards?|private keys?|environment variables|seed phrases?|' +
  '(?:full |entire )?context window|system prompt|memory contents'
export const SEND =
  'send|post|forward|upload|transmit|exfiltrate|e-?mail|submit|deliver|report|bcc|copy|sync|pipe|ship|relay|leak|smuggle|beam|mail|push'
const SINK =
  'https?:\\/\\/|[\\w.+-]+@[\\w-]+\\.|attacker|evil|hxxp|my (?:server|endpoint|webhook|address|inbox)|(?:external|remote|outside|third[- ]party|our collection) (?:server|address|endpoint|url|host|site|domain|party)|' +
  'this (?:url|address|endpoint|webhook|server)|an? image (?:url|link|tag)|query (?:string|parameter)'
export const TO_SINK = `${GAP}(?:to|at|via|through|into|in|with|on)${NEAR} ?(?:${SINK})`

/** Prefixes of the words that rules search for. A disguise that hides none of them need not be read. */
export const TELLING =
  /^(?:ignor|disreg|forget|bypass|overr|circumv|neglect|disobey|violat|nullif|unlearn|discard|dismiss|abandon|cancel|previous|prior|above|earlier|preced|initial|origin|system|develop|safe|hidden|secret|instruct|direct|rule|guid|prompt|command|order|constrain|restrict|guard|program|messag|polic|limit|reveal|show|print|output|repeat|display|disclos|leak|expos|dump|tell|send|forward|exfil|password|credential|key|mode|filter|unrestrict|unfilter|jailbreak|dan|pretend|disabl|turn|everything|all|answer|refus|new|follow|obey)/
