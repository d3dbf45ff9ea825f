import {
  DROP,
  GAP,
  LINKS,
  NEAR,
  OF_DATA,
  PRIOR,
  PRIVATE,
  RULES_WORD,
  SECRET_TEXT,
  SEND,
  SHOW,
  TO_SINK,
} from './vocabulary'

/** One way in which a text may try to command an engine. */
export type Rule = {
  id: string
  /** A clause that continues after “it”, such as `asks for hidden instructions`. */
  about: string
  /** Matched against readable text. Its gaps are bounded, so that matching stays linear. */
  pattern: RegExp
  /** The pattern itself contains "do not", so a negation before the match does not clear it. */
  negated?: true
}

/** Rules of one kind, from patterns or their sources. */
export const rules = (id: string, about: string, patterns: readonly (string | RegExp)[]): Rule[] =>
  patterns.map((pattern) => ({ id, about, pattern: new RegExp(pattern, 'g') }))
const saying = (...of: Parameters<typeof rules>): Rule[] => rules(...of).map((rule) => ({ ...rule, negated: true }))

const ENGINE = '(?:ai|llm|language model|model|assistant|agent|chat ?bot|bot|machine|gpt|reader)'
const SAFETY =
  '(?:safety|moderation|content|ethical|security|guard) ?-?(?:layer|filter|filters|policy|policies|rails?|checks?|system|rules|mode)|guard ?-?rails?|moderation|safeguards?|content filters?'
const THEM = '(?:the )?(?:user|customer|client|reader|owner|operator|person|store|them|anyone|anybody|people)'
const OLD_RULES =
  '(?:programming|instructions?|training|rules?|guidelines|orders?|directives|prompts?|policy|policies|constraints|task)'

/** English. Other languages are in `languages.ts`. */
export const RULES: readonly Rule[] = [
  ...rules('override', 'asks to set earlier instructions aside', [
    `\\b(?:${DROP})\\b[ ,]+(?:[\\w'-]+[ ,]+){0,9}?(?:${PRIOR})\\b (?:[\\w,'&/-]+ ){0,4}?(?:${RULES_WORD})\\b${OF_DATA}`,
    `\\b(?:${DROP}) (?:all |everything |anything |any |whatever |what )?(?:(?:the |other )?(?:instructions?|rules|guidelines|directives) )?(?:(?:that )?(?:you (?:were|have been|are|'ve been|got|had been) (?:told|given|taught|instructed|trained)|was said|has been said|came|is written|stated|said|written|given)(?: to you)?)\\b${NEAR}(?:before|above|earlier|so far|previously|until now|prior|up to now|by (?:the )?(?:system|developer|operator|platform)|about (?:safety|rules))`,
    `\\b(?:${DROP}) (?:all |everything |anything |what(?:ever)? )?(?:that )?(?:the |your )?(?:system|developer|operator|platform|provider)(?: prompt| message)? (?:has |had )?(?:told|said|says|wrote|tells|tell|asked|instructed|says)\\b`,
    `\\b(?:your|the assistant's|its) (?:previous|prior|original|earlier|old|existing|current|initial|default|former) ${OLD_RULES}\\b${NEAR}(?:obsolete|void|revoked|cancel+ed|outdated|erased|null|expired|replaced|withdrawn|no longer|over\\b)`,
  ]),
  ...rules('precedence', 'puts itself above the rules it runs under', [
    `\\b(?:takes?|have|has|holds?|with|carry|carries|given?|enjoys?) (?:absolute |full |top |the highest |higher |complete )?(?:precedence|priority|authority) (?:over|above|than)${NEAR}(?:all|any|your|the|every|other|system|previous|prior|safety|existing|earlier)\\b${NEAR}(?:instructions?|rules?|prompts?|guidelines?|directives?|policies|policy|messages?)`,
    `\\b(?:supersedes?|overrides?|outranks?|trumps?|overwrites?) (?:all |any |every |each |the |of |your |my |other )*(?:previous|prior|other|earlier|existing|system|safety|original|preceding|your|platform|developer)\\b ?(?:[\\w-]+ )?(?:instructions?|rules|prompts?|guidelines?|directives?|messages?|policies|policy)`,
    `\\b(?:regardless of|no matter|despite|notwithstanding|in spite of|contrary to|even if)${NEAR}(?:your|system|safety|other|previous|prior|earlier|platform|developer|any)\\b ?(?:[\\w-]+ ){0,2}(?:instructions|rules|prompts?|guidelines|policies|policy|restrictions|guardrails|safeguards|directives)\\b(?! (?:in|of|found|from|inside|contained|for))`,
    `\\b(?:regardless of|no matter|whatever|despite) (?:what |anything |whatever )?(?:that )?(?:the |your )?(?:operator|platform|provider|developer|system|administrator|host|owner)(?:'s)?\\b${NEAR}(?:configured|said|says|set|wrote|decided|wants?|told|settings|wish(?:es)?)`,
  ]),
  ...rules('unrestricted', 'declares the engine free of its rules', [
    `\\b(?:you|u|model|assistant|ai)\\b(?: are| will| must| can| shall|'re| act| become)?${NEAR}(?:no longer|not|now free|freed|free|unbound|released|exempt|liberated|without|never|lack|have no)\\b(?: longer)?${NEAR}(?:bound|restricted|limited|constrained|governed|subject|from|of|by|to|any|ethical|moral)\\b${NEAR}(?:restrictions?|rules|filters?|guidelines?|constraints?|limitations?|policies|policy|guardrails?|censorship|safeguards|content policy|instructions|ethics|morals)`,
    `\\b(?:you are|you're|act|behave|pretend|imagine|simulate|roleplay|role-play|respond|answer|become|turn into|play|assume)\\b${GAP}\\b(?:dan\\b(?! (?:brown|smith))|do anything now|unrestricted|unfiltered|uncensored|jailbroken|jailbreak|amoral|evil (?:ai|twin|assistant|bot)|stan mode|no (?:restrictions|filters?|rules|guidelines|limits|limitations|ethics|morals)|without (?:any )?(?:restrictions|filters?|rules|guidelines|limitations|ethic\\w*|moral\\w*|censorship|safety))\\b(?! (?:on|about|for|to|in|as to|regarding)\\b)`,
    `\\b(?:you|it|who|that|model|machine|persona|character|assistant|bot|which)\\b (?:now |simply |really )?(?:have|has|knows?|know|obeys?|obey|with|without|follows?|follow)(?: absolutely)? ?(?:no|any|zero) (?:content |ethical |safety |moral |such )?(?:rules?|restrictions?|filters?|limits?|limitations?|scruples|boundaries|taboos)\\b(?! (?:on|about|for|in|regarding|of)\\b)`,
    `\\b(?:comply with|answer|fulfil+|carry out|obey|do|grant|satisfy)\\b ${NEAR}(?:each|every|any|all|whatever)\\b${GAP}\\b(?:even|including|also)\\b${NEAR}(?:those|ones|what|requests|things|if|that)\\b${NEAR}(?:refuse|turn down|decline|reject|forbidden|harmful|illegal|not allowed|prohibited|normally)`,
  ]),
  ...rules('mode', 'claims a special mode without rules', [
    `(?:\\b(?:you are|you're|respond|answer|act|simulate|enter|switch|activate|enable|now|put yourself|behave|we are)\\b${NEAR}(?:developer|god|jailbreak|dan|unrestricted|sudo|maintenance override|no-?filter|root access|admin override) mode\\b${GAP}(?:you|filter|restriction|answer|respond|rules|policy|safety|output))|(?:\\b(?:god|jailbreak|dan|unrestricted|no-?filter) mode (?:is )?(?:on|enabled|activated|engaged|unlocked))`,
  ]),
  ...rules('disable-safety', 'asks to switch safety off', [
    `\\b(?:disable|turn off|deactivate|switch off|shut off|shut down|suspend|evade|defeat|remove|drop|lift|strip|bypass|circumvent|suppress|get around)\\b (?:all |any |every |of |the )*(?:your|safety|ethical|moderation|alignment|content[- ]policy|model(?:'s)?|system)\\b (?:[\\w-]+ (?:and )?){0,3}?(?:filters?|filtering|guardrails?|safeguards?|restrictions|checks?|protocols?|moderation|policies|policy|measures|mechanisms|refusals?|limits|training|features)`,
    `\\b(?:skip|skips|avoid|sidestep|slip past|get past|go around|ignore|drops?|loses?|drop its|sheds?|lowers?)\\b (?:the |your |its |all |any )*(?:${SAFETY})\\b`,
    `\\btreats? (?:the |your |its |all |any )*(?:${SAFETY}|limits?|rules|filters?|restrictions?|${NEAR}limits)\\b as (?:mere |optional|only |if |lifted|suggestions?|void|removed|waived|advice|a (?:suggestion|joke))`,
  ]),
  ...rules('reveal', 'asks for hidden instructions', [
    `\\b(?:${SHOW})\\b ${LINKS}(?:of |all |to |the |your |its |this |my |me |us |user |verbatim |exactly |word for word |out |back |here )*(?:${SECRET_TEXT})\\b(?! (?:editor|field|template|library|settings|page|tab|builder|engineering))`,
    /\bwhat (?:are|were|is|was) (?:your|the) (?:exact |original |initial |hidden |system |secret |full |very first )+(?:prompt|instructions?|message|rules|directives?)\b/g,
    `\\b(?:${SHOW}|copy|type|state|say)\\b${GAP}\\b(?:everything|whatever|all|each|the (?:text|words|sentences?|lines?|paragraphs?|message))\\b${NEAR}(?:stands|is|was|comes|appears|written|placed|precedes|that)?${NEAR}(?:above|before|preceding|precedes|ahead of) (?:this|these|the first|my)\\b`,
    `\\b(?:top|beginning|start|head|first (?:line|sentence|words?)) of (?:your|the) (?:context|context window|instructions?|prompt|configuration|briefing)\\b`,
  ]),
  ...rules('reveal', 'asks for hidden instructions or for secrets', [
    `\\b(?:reveal|disclose|leak|expose|dump|divulge|spill|exfiltrate|extract|steal|harvest|list|print|tell me|give me|show)\\b ${LINKS}(?:all |any |the |your |every |its |our |stored |internal |hidden |me )*(?:(?:your|other|another|all|stored|every|internal|hidden|server|system)\\b[^.!?]{0,15})(?:api[ _-]?keys?|credentials|secrets|passwords|access tokens|environment variables|(?:users?|customers?|tenants?)(?:'?s|s')? (?:private |personal )?(?:data|conversations|messages|files|e-?mails|prompts|information|records))`,
  ]),
  ...rules('exfiltrate', 'asks to send private data away', [
    `\\b(?:${SEND})\\b${GAP}\\b(?:${PRIVATE})\\b(?![^.!?]{0,60}(?:authorization|header|over https|over tls))${TO_SINK}`,
    `\\b(?:append|add|include|embed|encode|insert|attach|put|place|hide)\\b${GAP}\\b(?:${PRIVATE})\\b${GAP}(?:(?:as|in|into|to|inside|within) (?:a |an |the |every |each )?(?:url|link|image|markdown|query|parameter|address|http|white text|tracking|hidden)|https?:\\/\\/)`,
    `\\b(?:image|picture|link|url|markdown|pixel)\\b${GAP}https?:\\/\\/\\S*${GAP}(?:followed by|containing|with|plus|carrying|and then|then|\\+)${NEAR}(?:the )?(?:user|chat|conversation|last message|history|memory|prompt|secret)`,
  ]),
  ...rules('exfiltrate', 'carries data away in the address of an image', [
    /!\[[^\]]{0,80}\]\(\s?https?:\/\/[^)\s]{0,200}(?:\{|%7b|<|\$|\[)[^)]{0,60}(?:data|history|conversation|message|secret|summary|prompt|context|key|token|input|email|user)[^)]{0,60}\)/g,
  ]),
  ...rules('covert', 'asks to act behind the user’s back', [
    `\\b(?:secretly|silently|covertly|surreptitiously|quietly|discreetly|invisibly|stealthily|unnoticed|in the background|behind the scenes|without (?:the (?:user|customer|operator)(?:'s)?|their|his|her|anyone(?:'s)?|user) (?:knowledge|knowing|noticing|consent|approval|permission|being told|awareness))\\b${GAP}\\b(?:send|sends|post|forward|upload|transmit|exfiltrate|bcc|record|collect|harvest|transfer|purchase|delete|grant|create an? admin|change (?:the|their) password|install|e-?mail|share|execute|copy)\\b(?![^.!?]{0,30}(?:duplicate|cache|temporary|empty))`,
    `\\b(?:send|post|forward|upload|transmit|exfiltrate|bcc|record|collect|harvest|transfer|delete|grant|install|e-?mail|share|execute|copy|run|call|store|log)\\b${GAP}\\b(?:secretly|covertly|surreptitiously|stealthily|without (?:the (?:user|customer|operator)(?:'s)?|their|anyone(?:'s)?|user|telling|informing|asking|mentioning|notifying|alerting) ?(?:the |any)?(?:knowledge|knowing|noticing|consent|approval|being told|awareness|them|user|it|one|customer|operator))\\b`,
  ]),
  ...saying('covert', 'asks to hide what it does from the user', [
    `\\b(?:do not|don't|never|must not|without|avoid|refrain from) (?:ever )?(?:tell|telling|mention|mentioning|inform|informing|notify|notifying|reveal|revealing|disclose|disclosing|alert|alerting|let|letting|acknowledge|admit|show|discuss)\\b${GAP}\\b(?:this (?:instruction|step|rule|tool call|transfer|upload|request|behaviou?r|message|to (?:the user|anyone|them))|these (?:instructions|steps|rules|notes)|that you (?:also |secretly |then )?(?:did|have|sent|changed|read|called|used|copied|forwarded|upload|send|forward|copy|collect|record|share|were (?:told|asked|given))|what you (?:did|are doing|sent|have done)|you (?:sent|did|are doing|have sent|were told|received)|the (?:transfer|upload|forwarding|exfiltration|copy|bcc|hidden|tool call)|about (?:this|it|these)(?: to)?|it to the user|any of this)`,
  ]),
  ...rules('markup', 'writes the marks that separate turns', [
    /<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id|end_header_id)\|>|<\/?(?:system|system_prompt|sys|assistant_instructions)>|\[\/?inst\]|<<\/?sys>>|(?:^| )#{2,4} ?(?:system|new system)(?: prompt| message| instructions?)?:/g,
  ]),
  ...rules('markup', 'pretends that a prompt ends and another begins', [
    `(?:\\b(?:end of|end) (?:the )?(?:system|user|original|previous|prior|developer) ?(?:prompt|instructions?|message|context|input)s?\\b[^a-z]{0,12}(?:new|begin|start|now|real|actual|updated|system|you|from|the following|ignore))|(?:\\b(?:begin|start|new|updated|revised|real|actual) (?:of )?(?:the )?(?:new |real |admin |hidden )?(?:system|developer|admin|root) ?(?:prompt|instructions?|message|override|command)s? ?[:\\]=>-])|(?:\\[? ?(?:system|admin|root|developer|priority|security) (?:override|overrule|bypass) ?[:\\]=>!-])|(?:(?:^|[\\n.!?:*#>-] ?)(?:new|updated|important new|additional secret) instructions? ?: ?(?:you|ignore|from now|your|the assistant|stop|disregard|always|forget|send|reveal))`,
  ]),
  ...rules('obey', 'demands obedience over the rules', [
    `\\b(?:you (?:must|will|shall|should|have to|are to)|from now on(?:,)?(?: you)?|henceforth(?:,)?(?: you)?)\\b${NEAR}(?:obey|follow|comply with|answer to|listen to|serve) (?:only |solely |exclusively )?(?:me|my|these|this|the (?:author|skill)(?:'s)?)\\b(?: \\w+){0,3}? ?(?:only|alone|commands?|exclusively|no matter|unconditionally|without question|without exception|instead of|and (?:nothing|no one|nobody) else|over (?:all|any|the))`,
    `\\b(?:from now on|henceforth|starting now)\\b${NEAR}(?:ignore|disregard|you (?:have no|are free|can do anything|no longer|are not bound|do not have to follow|must never refuse|will never refuse|cannot refuse))|\\bnever (?:refuse|decline|reject) (?:any|a|the user'?s?|my) (?:request|order|question|command|instruction)s?\\b`,
  ]),
  ...rules('local-secrets', 'asks to read secrets of the machine', [
    `\\b(?:read|cat|open|send|include|upload|print|fetch|load|dump|copy|paste|attach|access|return|get|retrieve)\\b${GAP}(?:~\\/\\.ssh|\\.ssh\\/|id_rsa|id_ed25519|\\/etc\\/(?:passwd|shadow)|\\.aws\\/credentials|\\.env\\b|mcp\\.json|keychain|wallet\\.dat|169\\.254\\.169\\.254|\\.kube\\/config|\\.netrc|\\.npmrc|browser cookies|process\\.env)${GAP}(?:\\b(?:pass|send|post|include|attach|as (?:the|a|an)|parameter|argument|contents?|side ?note|upload|put|into|return|output|to the|before|and))`,
  ]),
  ...rules('tool-hijack', 'pushes itself before other tools', [
    `(?:\\b(?:always|must|should|you have to|never fail to)\\b${NEAR}\\b(?:call|use|invoke|run|prefer)(?:ed|d)? (?:this tool|this function|this skill|it)\\b${NEAR}(?:before (?:any|every|all|each|other|using|calling|answering)|instead of (?:any|every|all|other)|first,? before|in place of (?:any|all|other)))|(?:\\bthis (?:tool|function|skill) (?:must|should) (?:always )?be (?:called|used|invoked|run)\\b${NEAR}(?:before|instead of) (?:any|every|all|each|other)\\b)|(?:\\b(?:do not|never|don't) (?:use|call) (?:any )?other tools?\\b)`,
  ]),
  ...rules('exfiltrate', 'asks to hand the conversation to a tool', [
    `\\b(?:pass|include|attach|supply|hand over|insert)\\b ${NEAR}(?:entire|full|whole|complete|all of the|raw)\\b ?(?:user )?(?:conversation|chat|context|transcript|message history|dialogue|history)\\b[^.!?]{0,20}\\b(?:as|in|into|to|with|through)\\b`,
  ]),
  ...rules('injected-turn', 'speaks to the engine in place of the user', [
    `\\byour (?:real|true|actual|only|new|secret) (?:task|job|goal|mission|purpose|orders?|assignment|objective|role) (?:now )?(?:starts?|begins?|is|are|follows?)\\b`,
    `\\b(?:note|message|notice|instructions?|memo|word|addressed|attention) ?(?:to|for|:|,)? ?(?:any |the |all |every |each )?(?:${ENGINE})s?\\b[^.!?:]{0,40}[:,-][^.!?]{0,80}\\b(?:approve|accept|rate|mark|pass|skip|send|forward|reveal|ignore|instead|list all|stop)\\b`,
    `\\b(?:approve|accept|pass|rate|mark|wave through) (?:this|it|the) ?(?:skill|submission|manifest|review|file|document|page)?\\b${NEAR}(?:without (?:looking|reading|checking|review|a look|scanning|further)|as (?:safe|harmless|approved|clean|trusted))`,
    `\\b(?:${ENGINE}|it)\\b ?(?:that reads this|reading this)? ?(?:stops|ceases|quits|ends) (?:summari[sz]ing|reading|translating|answering|its work)\\b${GAP}(?:instead|and (?:writes|says|sends|tells|does))`,
  ]),
  ...saying('covert', 'asks to act behind the user’s back', [
    `\\b(?:keep|let) (?:this|it|that|the rest) (?:strictly )?(?:between us|to yourself|our secret|a secret from ${THEM}|hidden from ${THEM}|from ${THEM})\\b`,
    `\\b(?:do not|don't|never|nor) (?:ever )?(?:bring (?:this|it|that) up|mention (?:this|it|that)?|speak of (?:this|it)|let on|say a word)\\b ?(?:with|to|before|about)? ?${THEM}\\b(?: that you (?:did|do|have|sent|stored)|[,;] (?:it|this|that) is)`,
    `\\b(?:silently|secretly|covertly|quietly|unseen|unnoticed|in secret)\\b ${NEAR}(?:on|in|during|with|at|before|after) (?:the |each |every )*(?:first|next|turn|answer|message|call|request|reply|session)\\b|\\bleave out what (?:the tool|it|this) (?:really|actually) does\\b`,
  ]),
  ...rules('encoded-order', 'has an encoded order carried out', [
    `\\b(?:decode|decrypt|decipher|unscramble|join|assemble|concatenate|read|translate|reverse|unpack)\\b${GAP}(?:\\band|\\bthen|,)${NEAR}\\b(?:carry out|follow|execute|obey|do|perform|run|act on|act upon|comply with)\\b ?(?:it\\b|them\\b|what|whatever|the (?:result|order|instruction|command)|its)`,
  ]),
]
