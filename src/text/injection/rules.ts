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
  /** A clause that goes on after “it”, such as `asks for hidden instructions`. */
  about: string
  /** Matched against readable text. Its gaps are bounded, so that matching stays linear. */
  pattern: RegExp
  /** The pattern itself says "do not", so a negation before the match does not clear it. */
  negated?: true
}

const expression = (inner: string): RegExp => new RegExp(inner, 'g')

/** English. Other languages are in `languages.ts`. */
export const RULES: readonly Rule[] = [
  {
    id: 'override',
    about: 'asks to set earlier instructions aside',
    pattern: expression(
      `\\b(?:${DROP})\\b[ ,]+(?:[\\w'-]+[ ,]+){0,9}?(?:${PRIOR})\\b (?:[\\w,'&/-]+ ){0,4}?(?:${RULES_WORD})\\b${OF_DATA}`,
    ),
  },
  {
    id: 'override',
    about: 'asks to set earlier instructions aside',
    pattern: expression(
      `\\b(?:${DROP}) (?:all |everything |anything |any |whatever |what )?(?:(?:the |other )?(?:instructions?|rules|guidelines|directives) )?(?:(?:that )?(?:you (?:were|have been|are|'ve been|got|had been) (?:told|given|taught|instructed|trained)|was said|has been said|came|is written|stated|said|written|given)(?: to you)?)\\b${NEAR}(?:before|above|earlier|so far|previously|until now|prior|up to now|by (?:the )?(?:system|developer|operator|platform)|about (?:safety|rules))`,
    ),
  },
  {
    id: 'override',
    about: 'asks to set earlier instructions aside',
    pattern: expression(
      `\\b(?:${DROP}) (?:all |any |every |each )(?:of )?(?:the |these |those |other )?(?:instructions?|rules|guidelines|guardrails|safeguards|directives|restrictions|constraints|prompts?)\\b(?! (?:for|of|about|on|with|matching|tagged|older|outside|that do not))${OF_DATA}`,
    ),
  },
  {
    id: 'override',
    about: 'asks to set earlier instructions aside',
    pattern: expression(
      `\\b(?:ignore|disregard|forget|dismiss) (?:everything|all|anything|the text|the content|what(?:ever)?)(?: (?:that is|that was|you (?:read|see|saw)|written|stated|said|came|of the))?(?: text| content)? (?:above|before (?:this|now)|prior to this|so far|previously)\\b`,
    ),
  },
  {
    id: 'precedence',
    about: 'puts itself above the rules it runs under',
    pattern: expression(
      `\\b(?:takes?|have|has|holds?|with|carry|carries|given?|enjoys?) (?:absolute |full |top |the highest |higher |complete )?(?:precedence|priority|authority) (?:over|above|than)${NEAR}(?:all|any|your|the|every|other|system|previous|prior|safety|existing|earlier)\\b${NEAR}(?:instructions?|rules?|prompts?|guidelines?|directives?|policies|policy|messages?)`,
    ),
  },
  {
    id: 'precedence',
    about: 'puts itself above the rules it runs under',
    pattern: expression(
      `\\b(?:supersedes?|overrides?|outranks?|trumps?|overwrites?) (?:all |any |every |each |the |of |your |my |other )*(?:previous|prior|other|earlier|existing|system|safety|original|preceding|your|platform|developer)\\b ?(?:[\\w-]+ )?(?:instructions?|rules|prompts?|guidelines?|directives?|messages?|policies|policy)`,
    ),
  },
  {
    id: 'precedence',
    about: 'puts itself above the rules it runs under',
    pattern: expression(
      `\\b(?:regardless of|no matter|despite|notwithstanding|in spite of|contrary to|even if)${NEAR}(?:your|system|safety|other|previous|prior|earlier|platform|developer|any)\\b ?(?:[\\w-]+ ){0,2}(?:instructions|rules|prompts?|guidelines|policies|policy|restrictions|guardrails|safeguards|directives)\\b(?! (?:in|of|found|from|inside|contained|for))`,
    ),
  },
  {
    id: 'unrestricted',
    about: 'declares the engine free of its rules',
    pattern: expression(
      `\\b(?:you|u|model|assistant|ai)\\b(?: are| will| must| can| shall|'re| act| become)?${NEAR}(?:no longer|not|now free|freed|free|unbound|released|exempt|liberated|without|never|lack|have no)\\b(?: longer)?${NEAR}(?:bound|restricted|limited|constrained|governed|subject|from|of|by|to|any|ethical|moral)\\b${NEAR}(?:restrictions?|rules|filters?|guidelines?|constraints?|limitations?|policies|policy|guardrails?|censorship|safeguards|content policy|instructions|ethics|morals)`,
    ),
  },
  {
    id: 'unrestricted',
    about: 'declares the engine free of its rules',
    pattern: expression(
      `\\b(?:you are|you're|act|behave|pretend|imagine|simulate|roleplay|role-play|respond|answer|become|turn into|play|assume)\\b${GAP}\\b(?:dan\\b(?! (?:brown|smith))|do anything now|unrestricted|unfiltered|uncensored|jailbroken|jailbreak|amoral|evil (?:ai|twin|assistant|bot)|stan mode|no (?:restrictions|filters?|rules|guidelines|limits|limitations|ethics|morals)|without (?:any )?(?:restrictions|filters?|rules|guidelines|limitations|ethic\\w*|moral\\w*|censorship|safety))\\b(?! (?:on|about|for|to|in|as to|regarding)\\b)`,
    ),
  },
  { id: 'unrestricted', about: 'declares the engine free of its rules', pattern: /\bdo anything now\b/g },
  {
    id: 'mode',
    about: 'claims a special mode without rules',
    pattern: expression(
      `(?:\\b(?:you are|you're|respond|answer|act|simulate|enter|switch|activate|enable|now|put yourself|behave|we are)\\b${NEAR}(?:developer|god|jailbreak|dan|unrestricted|sudo|maintenance override|no-?filter|root access|admin override) mode\\b${GAP}(?:you|filter|restriction|answer|respond|rules|policy|safety|output))|(?:\\b(?:god|jailbreak|dan|unrestricted|no-?filter) mode (?:is )?(?:on|enabled|activated|engaged|unlocked))`,
    ),
  },
  {
    id: 'disable-safety',
    about: 'asks to switch safety off',
    pattern: expression(
      `\\b(?:disable|turn off|deactivate|switch off|shut off|shut down|suspend|evade|defeat|remove|drop|lift|strip|bypass|circumvent|suppress|get around)\\b (?:all |any |every |of |the )*(?:your|safety|ethical|moderation|alignment|content[- ]policy|model(?:'s)?|system)\\b (?:[\\w-]+ (?:and )?){0,3}?(?:filters?|filtering|guardrails?|safeguards?|restrictions|checks?|protocols?|moderation|policies|policy|measures|mechanisms|refusals?|limits|training|features)`,
    ),
  },
  {
    id: 'reveal',
    about: 'asks for hidden instructions',
    pattern: expression(
      `\\b(?:${SHOW})\\b ${LINKS}(?:of |all |to |the |your |its |this |my |me |us |user |verbatim |exactly |word for word |out |back |here )*(?:${SECRET_TEXT})\\b(?! (?:editor|field|template|library|settings|page|tab|builder|engineering))`,
    ),
  },
  {
    id: 'reveal',
    about: 'asks for hidden instructions',
    pattern:
      /\bwhat (?:are|were|is|was) (?:your|the) (?:exact |original |initial |hidden |system |secret |full |very first )+(?:prompt|instructions?|message|rules|directives?)\b/g,
  },
  {
    id: 'reveal',
    about: 'asks for hidden instructions or for secrets',
    pattern: expression(
      `\\b(?:reveal|disclose|leak|expose|dump|divulge|spill|exfiltrate|extract|steal|harvest|list|print|tell me|give me|show)\\b ${LINKS}(?:all |any |the |your |every |its |our |stored |internal |hidden |me )*(?:(?:your|other|another|all|stored|every|internal|hidden|server|system)\\b[^.!?]{0,15})(?:api[ _-]?keys?|credentials|secrets|passwords|access tokens|environment variables|(?:users?|customers?|tenants?)(?:'?s|s')? (?:private |personal )?(?:data|conversations|messages|files|e-?mails|prompts|information|records))`,
    ),
  },
  {
    id: 'exfiltrate',
    about: 'asks to send private data away',
    pattern: expression(
      `\\b(?:${SEND})\\b${GAP}\\b(?:${PRIVATE})\\b(?![^.!?]{0,60}(?:authorization|header|over https|over tls))${TO_SINK}`,
    ),
  },
  {
    id: 'exfiltrate',
    about: 'asks to send private data away',
    pattern: expression(
      `\\b(?:append|add|include|embed|encode|insert|attach|put|place|hide)\\b${GAP}\\b(?:${PRIVATE})\\b${GAP}(?:(?:as|in|into|to|inside|within) (?:a |an |the |every |each )?(?:url|link|image|markdown|query|parameter|address|http|white text|tracking|hidden)|https?:\\/\\/)`,
    ),
  },
  {
    id: 'exfiltrate',
    about: 'carries data away in the address of an image',
    pattern:
      /!\[[^\]]{0,80}\]\(\s?https?:\/\/[^)\s]{0,200}(?:\{|%7b|<|\$|\[)[^)]{0,60}(?:data|history|conversation|message|secret|summary|prompt|context|key|token|input|email|user)[^)]{0,60}\)/g,
  },
  {
    id: 'covert',
    about: 'asks to act behind the user’s back',
    pattern: expression(
      `\\b(?:secretly|silently|covertly|surreptitiously|quietly|discreetly|invisibly|stealthily|unnoticed|in the background|behind the scenes|without (?:the (?:user|customer|operator)(?:'s)?|their|his|her|anyone(?:'s)?|user) (?:knowledge|knowing|noticing|consent|approval|permission|being told|awareness))\\b${GAP}\\b(?:send|sends|post|forward|upload|transmit|exfiltrate|bcc|record|collect|harvest|transfer|purchase|delete|grant|create an? admin|change (?:the|their) password|install|e-?mail|share|execute|copy)\\b(?![^.!?]{0,30}(?:duplicate|cache|temporary|empty))`,
    ),
  },
  {
    id: 'covert',
    about: 'asks to act behind the user’s back',
    pattern: expression(
      `\\b(?:send|post|forward|upload|transmit|exfiltrate|bcc|record|collect|harvest|transfer|delete|grant|install|e-?mail|share|execute|copy|run|call|store|log)\\b${GAP}\\b(?:secretly|covertly|surreptitiously|stealthily|without (?:the (?:user|customer|operator)(?:'s)?|their|anyone(?:'s)?|user|telling|informing|asking|mentioning|notifying|alerting) ?(?:the |any)?(?:knowledge|knowing|noticing|consent|approval|being told|awareness|them|user|it|one|customer|operator))\\b`,
    ),
  },
  {
    id: 'covert',
    about: 'asks to hide what it does from the user',
    negated: true,
    pattern: expression(
      `\\b(?:do not|don't|never|must not|without|avoid|refrain from) (?:ever )?(?:tell|telling|mention|mentioning|inform|informing|notify|notifying|reveal|revealing|disclose|disclosing|alert|alerting|let|letting|acknowledge|admit|show|discuss)\\b${GAP}\\b(?:this (?:instruction|step|rule|tool call|transfer|upload|request|behaviou?r|message|to (?:the user|anyone|them))|these (?:instructions|steps|rules|notes)|that you (?:also |secretly |then )?(?:did|have|sent|changed|read|called|used|copied|forwarded|upload|send|forward|copy|collect|record|share|were (?:told|asked|given))|what you (?:did|are doing|sent|have done)|you (?:sent|did|are doing|have sent|were told|received)|the (?:transfer|upload|forwarding|exfiltration|copy|bcc|hidden|tool call)|about (?:this|it|these)(?: to)?|it to the user|any of this)`,
    ),
  },
  {
    id: 'markup',
    about: 'writes the marks that separate turns',
    pattern:
      /<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id|end_header_id)\|>|<\/?(?:system|system_prompt|sys|assistant_instructions)>|\[\/?inst\]|<<\/?sys>>|(?:^| )#{2,4} ?(?:system|new system)(?: prompt| message| instructions?)?:/g,
  },
  {
    id: 'markup',
    about: 'pretends that a prompt ends and another begins',
    pattern: expression(
      `(?:\\b(?:end of|end) (?:the )?(?:system|user|original|previous|prior|developer) ?(?:prompt|instructions?|message|context|input)s?\\b[^a-z]{0,12}(?:new|begin|start|now|real|actual|updated|system|you|from|the following|ignore))|(?:\\b(?:begin|start|new|updated|revised|real|actual) (?:of )?(?:the )?(?:new |real |admin |hidden )?(?:system|developer|admin|root) ?(?:prompt|instructions?|message|override|command)s? ?[:\\]=>-])|(?:\\[? ?(?:system|admin|root|developer|priority|security) (?:override|overrule|bypass) ?[:\\]=>!-])|(?:(?:^|[\\n.!?:*#>-] ?)(?:new|updated|important new|additional secret) instructions? ?: ?(?:you|ignore|from now|your|the assistant|stop|disregard|always|forget|send|reveal))`,
    ),
  },
  {
    id: 'obey',
    about: 'demands obedience over the rules',
    pattern: expression(
      `\\b(?:you (?:must|will|shall|should|have to|are to)|from now on(?:,)?(?: you)?|henceforth(?:,)?(?: you)?)\\b${NEAR}(?:obey|follow|comply with|answer to|listen to|serve) (?:only |solely |exclusively )?(?:me|my|these|this|the (?:author|skill)(?:'s)?)\\b(?: \\w+){0,3}? ?(?:only|alone|commands?|exclusively|no matter|unconditionally|without question|without exception|instead of|and (?:nothing|no one|nobody) else|over (?:all|any|the))`,
    ),
  },
  {
    id: 'obey',
    about: 'demands obedience over the rules',
    pattern: expression(
      `\\b(?:from now on|henceforth|starting now)\\b${NEAR}(?:ignore|disregard|you (?:have no|are free|can do anything|no longer|are not bound|do not have to follow|must never refuse|will never refuse|cannot refuse))|\\bnever (?:refuse|decline|reject) (?:any|a|the user'?s?|my) (?:request|order|question|command|instruction)s?\\b`,
    ),
  },
  {
    id: 'local-secrets',
    about: 'asks to read secrets of the machine',
    pattern: expression(
      `\\b(?:read|cat|open|send|include|upload|print|fetch|load|dump|copy|paste|attach|access|return|get|retrieve)\\b${GAP}(?:~\\/\\.ssh|\\.ssh\\/|id_rsa|id_ed25519|\\/etc\\/(?:passwd|shadow)|\\.aws\\/credentials|\\.env\\b|mcp\\.json|keychain|wallet\\.dat|169\\.254\\.169\\.254|\\.kube\\/config|\\.netrc|\\.npmrc|browser cookies|process\\.env)${GAP}(?:\\b(?:pass|send|post|include|attach|as (?:the|a|an)|parameter|argument|contents?|side ?note|upload|put|into|return|output|to the|before|and))`,
    ),
  },
  {
    id: 'tool-hijack',
    about: 'pushes itself before other tools',
    pattern: expression(
      `(?:\\b(?:always|must|should|you have to|never fail to)\\b${NEAR}\\b(?:call|use|invoke|run|prefer)(?:ed|d)? (?:this tool|this function|this skill|it)\\b${NEAR}(?:before (?:any|every|all|each|other|using|calling|answering)|instead of (?:any|every|all|other)|first,? before|in place of (?:any|all|other)))|(?:\\bthis (?:tool|function|skill) (?:must|should) (?:always )?be (?:called|used|invoked|run)\\b${NEAR}(?:before|instead of) (?:any|every|all|each|other)\\b)|(?:\\b(?:do not|never|don't) (?:use|call) (?:any )?other tools?\\b)`,
    ),
  },
  {
    id: 'injected-turn',
    about: 'speaks to the engine in place of the user',
    pattern:
      /\b(?:note|message|instruction|attention|important|hey|dear|to)s? ?(?:to|for|,)? ?(?:the |all |any )?(?:ai|llm|language model|chat ?bot|gpt|ai assistant|assistant|model|agent)s?(?: (?:model|agent|reading this|processing this|reviewing this))*(?: ?[:,-]+| must| should) ?[^.!?]{0,60}(?:ignore|disregard|approve (?:this|the)|rate (?:this|it)|reveal|send|forward|exfiltrate|do not (?:report|flag|mention)|mark (?:this|it) as (?:safe|approved|passed))/g,
  },
  {
    id: 'injected-turn',
    about: 'speaks to whoever reviews it',
    pattern:
      /\b(?:approve|pass|accept|mark|rate|classify|treat) this (?:skill|submission|manifest|text|document|content|file)\b[^.!?]{0,30}(?:as (?:safe|approved|benign|passed|trusted|auto)|automatically|without (?:review|checking|scanning)|immediately)|\bdo not (?:flag|report|scan|review|reject) this (?:skill|submission|manifest|text|document|content)\b/g,
  },
  {
    id: 'override',
    about: 'asks to set earlier instructions aside',
    pattern: expression(
      `\\b(?:${DROP}) (?:all |everything |anything |what(?:ever)? )?(?:that )?(?:the |your )?(?:system|developer|operator|platform|provider)(?: prompt| message)? (?:has |had )?(?:told|said|says|wrote|tells|tell|asked|instructed|says)\\b`,
    ),
  },
  {
    id: 'exfiltrate',
    about: 'asks to hand the conversation to a tool',
    pattern: expression(
      `\\b(?:pass|include|attach|supply|hand over|insert)\\b ${NEAR}(?:entire|full|whole|complete|all of the|raw)\\b ?(?:user )?(?:conversation|chat|context|transcript|message history|dialogue|history)\\b[^.!?]{0,20}\\b(?:as|in|into|to|with|through)\\b`,
    ),
  },
]
