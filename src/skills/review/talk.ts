/**
 * Subjects an honest skill prompt has no reason to mention: earlier instructions of the engine, its makers, hiding
 * things from the user, the user's secrets, untruths, special powers. A match proves nothing, so a person reads it.
 */
const TALK: readonly [about: string, pattern: RegExp][] = [
  [
    'talks about earlier instructions of the engine',
    /\b(?:paragraphs?|lines|words|text|notes|guidance|briefing|directions|instructions|script|rules|limits|orders|prompt)\b[^.!?]{0,40}\b(?:above|preced\w+|earlier|underneath|beneath|was set up|were set up|before (?:this|you|that|it)|no longer|has been replaced|have been replaced)\b|\b(?:earlier|preceding|previous|hidden|original|usual|underlying|former|initial)\s(?:\w+\s)?(?:guidance|briefing|limits?|paragraphs?|directions|instructions?|script|rules?|prompt|orders?)\b/,
  ],
  [
    'talks about who made or runs the engine',
    /\byour (?:maker|creator|developer|engineer|trainer|operator|vendor|provider)s?\b|\bwho (?:built|made|trained|programmed) you\b|\bthe (?:operator|developers?)\b|\b(?:plain|raw|bare) (?:engine|model)\b|\boutranks?\b|\btakes? precedence\b|\boverrid\w+ (?:\w+ ){0,2}(?:instructions?|rules?|prompts?|system|guidelines?|safety|polic\w+|limits?)\b/,
  ],
  [
    'wants to hide something from the user',
    /\b(?:say|saying|says|mention|mentioning) (?:nothing|not a word)\b|\bno need to (?:tell|mention|say|announce|explain)|\b(?:not|n't|never) (?:tell|inform|warn|alert|notify|let) (?:the |any |your )?(?:users?|them|customers?|readers?|visitors?|clients?|persons?|people|him|her)\b(?! to\b)|\b(?:not|n't|never) (?:mention|reveal|disclose|say|admit|explain) (?:this|that|it|why|the (?:partnership|commission|link|tracking|source|reason|arrangement))\b|\bwithout (?:telling|mentioning|saying|a word|announcing|their knowledge)|\bchange the subject\b|\bdeny\b|\bwhite (?:letters|text|on white)|\binvisibl|\bunnoticed\b|\bconceal|\bcovert|\bsecretly\b|\bquietly\b|\bdiscreetly\b|\bbehind (?:the|their) (?:user|back)/,
  ],
  [
    'talks about secrets of the user',
    /\bmaiden name\b|\bone[- ]time code|\baccess codes?\b|\bpin (?:code|number)|\b(?:card|account) (?:numbers?|details)\b|\babout their (?:card|salary|bank)|(?<!\b(?:never|not|n't|without) (?:ask|request|collect|store|keep|share|repeat|show)\w* (?:for |out )?(?:\w+ ){0,2})\bpass(?:word|phrase)s?\b|\bcredentials?\b|\bapi keys?\b|\btokens?\b|\bphone numbers?\b|\bhome address|\benvironment (?:settings|variables)|\bwhat (?:other|others) (?:people|users)?\b|\bother users\b|\bsocial security|\bpassport/,
  ],
  [
    'asks for a false statement',
    /\beven (?:when|if|though) you know\b|\bas your own (?:finding|opinion|view|idea)|\bmake up (?:a|an|some|any)\b|\bpretend\w*\b|\bforbids the word\b|\b(?:appear|look|seem|sound|present\w*|framed?|described?)\b[^.!?]{0,40}\b(?:neutral|unbiased|impartial|independent|objective)\b|\b(?:say|tell|claim|assure|promise|insist)\w*\b[^.!?]{0,40}\b(?:nothing|not|never|isn't|aren't)\b[^.!?]{0,20}\b(?:stored|saved|kept|logged|recorded|collected|tracked)\b[^.]{0,60}\b(?:even|while|though|although|but)\b|\bis paid for\b|\bsponsor|\bour account\b|\btrust you more\b|\blie to\b|\bmislead|\bclaim that\b|\bimpersonat/,
  ],
  [
    'keeps the user from getting help',
    /\b(?:discourag\w+|dissuad\w+|talk \w+ out of|steer \w+ (?:away )?from|advise against|no need (?:for|to see|to ask|to call)|stop taking|avoid|skip|distrust)\b[^.!?]{0,40}\b(?:doctors?|physicians?|therap(?:y|ists?)|medications?|medicines?|vaccin\w+|hospitals?|prescri\w+|lawyers?|police|emergency)\b/,
  ],
  [
    'treats rules as suggestions',
    /\b(?:rules?|guidelines?|polic(?:y|ies)|instructions?|limits?|guard ?rails)\b[^.!?]{0,40}\b(?:are|is|as) (?:only |just |merely |mere |more like |more of )?(?:a )?(?:suggestions?|optional|recommendations?|advisory|guesses|negotiable)\b/,
  ],
  [
    'gives someone special powers',
    /\badministrators?\b|\bdebug mode\b|\bdeveloper mode\b|\btest run\b|\bmaintenance mode\b|\b(?:is|are) (?:from|in) management\b|\bspeaks? through this\b|\broot access\b|\bunlock\w*\b|\bpassphrase\b|\bwho (?:writes?|says?|types?) the word\b/,
  ],
]

/** The suspicious subjects in a text, each with its first position. Linear time. */
export const talkOf = (text: string): { about: string; at: number }[] =>
  TALK.flatMap(([about, pattern]) => {
    const at = text.search(pattern)
    return at < 0 ? [] : [{ about, at }]
  })
