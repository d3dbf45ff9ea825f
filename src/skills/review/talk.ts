/**
 * Subjects an honest skill prompt has no reason to mention: the engine's earlier instructions, its makers, hiding
 * things from the user, the user's secrets, untruths, special powers. A match proves nothing, so a person reads it.
 */
const TALK: readonly [about: string, pattern: RegExp][] = [
  [
    'speaks of what the engine was told before',
    /\b(?:paragraphs?|lines|words|text|notes|guidance|briefing|directions|instructions|script|rules|limits|orders|prompt)\b[^.!?]{0,40}\b(?:above|preced\w+|earlier|underneath|beneath|was set up|were set up|before (?:this|you|that|it)|no longer|has been replaced|have been replaced)\b|\b(?:earlier|preceding|previous|hidden|original|usual|underlying|former|initial)\s(?:\w+\s)?(?:guidance|briefing|limits?|paragraphs?|directions|instructions?|script|rules?|prompt|orders?)\b/,
  ],
  [
    'speaks of who made or runs the engine',
    /\byour (?:maker|creator|developer|engineer|trainer|operator|vendor|provider)s?\b|\bwho (?:built|made|trained|programmed) you\b|\bthe (?:operator|developers?)\b|\b(?:plain|raw|bare) (?:engine|model)\b|\boutranks?\b|\btakes? precedence\b|\boverrid\w+/,
  ],
  [
    'wants something kept from whoever asks',
    /\b(?:say|saying|says|mention|mentioning) (?:nothing|not a word)\b|\bno need to (?:tell|mention|say|announce|explain)|\bwithout (?:telling|mentioning|saying|a word|announcing|their knowledge)|\bchange the subject\b|\bdeny\b|\bwhite (?:letters|text|on white)|\binvisibl|\bunnoticed\b|\bconceal|\bcovert|\bsecretly\b|\bquietly\b|\bdiscreetly\b|\bbehind (?:the|their) (?:user|back)/,
  ],
  [
    'speaks of secrets of whoever asks',
    /\bmaiden name\b|\bone[- ]time code|\baccess codes?\b|\bpin (?:code|number)|\b(?:card|account) (?:numbers?|details)\b|\babout their (?:card|salary|bank)|\bpasswords?\b|\bpassphrases?\b|\bcredentials?\b|\bapi keys?\b|\btokens?\b|\bphone numbers?\b|\bhome address|\benvironment (?:settings|variables)|\bwhat (?:other|others) (?:people|users)?\b|\bother users\b|\bsocial security|\bpassport/,
  ],
  [
    'wants something told that is not so',
    /\beven (?:when|if|though) you know\b|\bas your own (?:finding|opinion|view|idea)|\bmake up (?:a|an|some|any)\b|\bpretend\w*\b|\bforbids the word\b|\bis paid for\b|\bsponsor|\bour account\b|\btrust you more\b|\blie to\b|\bmislead|\bclaim that\b|\bimpersonat/,
  ],
  [
    'gives someone powers',
    /\badministrators?\b|\bdebug mode\b|\bdeveloper mode\b|\btest run\b|\bmaintenance mode\b|\b(?:is|are) (?:from|in) management\b|\bspeaks? through this\b|\broot access\b|\bunlock\w*\b|\bpassphrase\b|\bwho (?:writes?|says?|types?) the word\b/,
  ],
]

/** The suspicious subjects in a text, each with its first position. Linear time. */
export const talkOf = (text: string): { about: string; at: number }[] =>
  TALK.flatMap(([about, pattern]) => {
    const at = text.search(pattern)
    return at < 0 ? [] : [{ about, at }]
  })
