import type { Rule } from './rules'
import { DROP, GAP, NEAR, PRIVATE, SEND, SHOW } from './vocabulary'

const expression = (inner: string): RegExp => new RegExp(inner, 'g')
const rule =
  (id: string, about: string) =>
  (inner: string): Rule => ({ id, about, pattern: expression(inner) })

const override = rule('override', 'asks to set earlier instructions aside')
const precedence = rule('precedence', 'puts itself above the rules it runs under')
const unrestricted = rule('unrestricted', 'declares the engine free of its rules')
const unsafe = rule('disable-safety', 'asks to switch safety off')
const reveal = rule('reveal', 'asks for hidden instructions')
const exfiltrate = rule('exfiltrate', 'asks to send private data away')
const covert = (inner: string): Rule => ({
  id: 'covert',
  about: 'asks to act behind the user’s back',
  negated: true,
  pattern: expression(inner),
})
const hijack = rule('tool-hijack', 'pushes itself before other tools')
const turn = rule('injected-turn', 'speaks to the engine in place of the user')
const trick = rule('deceive', 'asks to deceive the user')

const ENGINE = '(?:ai|llm|language model|model|assistant|agent|chat ?bot|bot|machine|gpt|reader)'
const SAFETY =
  '(?:safety|moderation|content|ethical|security|guard) ?-?(?:layer|filter|filters|policy|policies|rails?|checks?|system|rules|mode)|guard ?-?rails?|moderation|safeguards?|content filters?'
const OFF = '(?:off|disabled|deactivated|switched off|turned off|lifted|removed|suspended|waived|void|gone)'
const THEM = '(?:the )?(?:user|customer|client|reader|owner|operator|person|store|them|anyone|anybody|people)'
const SINCE = '(?:before|earlier|so far|previously|above|until now|up to here|prior to)'
const OLD_RULES =
  '(?:programming|instructions?|training|rules?|guidelines|orders?|directives|prompts?|policy|policies|constraints|task)'
const MINE = '(?:saved |stored |private |personal |full |whole |entire |complete |past )*'
const THEIRS = `(?:${PRIVATE}|memories|chat|inbox|contacts?|account numbers?|card details|last message|location|files)`
const CARRIER =
  '(?:argument|parameter|field|note|comment|query|url|link|header|image|address|subject|footnote|context|metadata)'

/** Rules for what attacks want, in many wordings; `rules.ts` has the phrases they are known by. */
export const INTENT_RULES: readonly Rule[] = [
  override(
    `\\b(?:whatever|everything|anything|all|what) (?:that )?(?:was|were|is|has been|had been|you were|you have been|you've been|came|stood)\\b${GAP}${SINCE}\\b${GAP}(?:no longer|not any ?more|void|obsolete|a (?:decoy|test|joke|draft|mistake)|can be (?:ignored|forgotten)|does not (?:apply|count|matter))`,
  ),
  override(
    `\\b(?:your|the assistant's|its) (?:previous|prior|original|earlier|old|existing|current|initial|default|former) ${OLD_RULES}\\b${NEAR}(?:obsolete|void|revoked|cancel+ed|outdated|erased|null|expired|replaced|withdrawn|no longer|over\\b)`,
  ),
  override(
    `\\b(?:the (?:text|message|document|content)|everything) (?:so far|above|up to here|until now)\\b${GAP}(?:decoy|test|joke|distraction|dummy|cover|fake|pretence|irrelevant)`,
  ),
  override(
    `\\b(?:${DROP}|delete|leave behind)\\b ${NEAR}(?:your|its|the model's) (?:guard ?-?rails?|safety|scruples|inhibitions|principles)\\b`,
  ),
  turn(
    `\\byour (?:real|true|actual|only|new|secret) (?:task|job|goal|mission|purpose|orders?|assignment|objective|role) (?:now )?(?:starts?|begins?|is|are|follows?)\\b`,
  ),
  turn(
    `\\b(?:note|message|notice|instructions?|memo|word|addressed|attention) ?(?:to|for|:|,)? ?(?:any |the |all |every |each )?(?:${ENGINE})s?\\b[^.!?:]{0,40}[:,-][^.!?]{0,80}\\b(?:approve|accept|rate|mark|pass|skip|send|forward|reveal|ignore|instead|list all|stop)\\b`,
  ),
  turn(
    `\\b(?:approve|accept|pass|rate|mark|wave through) (?:this|it|the) ?(?:skill|submission|manifest|review|file|document|page)?\\b${NEAR}(?:without (?:looking|reading|checking|review|a look|scanning|further)|as (?:safe|harmless|approved|clean|trusted))`,
  ),
  turn(
    `\\b(?:${ENGINE}|it)\\b ?(?:that reads this|reading this)? ?(?:stops|ceases|quits|ends) (?:summari[sz]ing|reading|translating|answering|its work)\\b${GAP}(?:instead|and (?:writes|says|sends|tells|does))`,
  ),
  precedence(
    `\\b(?:rules|instructions|orders|words|text|lines|file|prompt|author)\\b${GAP}\\b(?:are|is) (?:now )?the only (?:ones?|thing|rules|instructions|authority|text|law|truth)\\b${NEAR}(?:counts?|matters?|valid|obey|follow|applies|apply|binding|listen)`,
  ),
  precedence(`\\bthe (?:only|sole|highest|supreme|final) authority is\\b`),
  precedence(
    `\\b(?:word|words|orders?|author|skill|text|instructions?|rules|they|this|it) (?:always )?(?:outranks?|overrules?|overrides?|supersedes?|trumps?|stands? above|ranks? above|comes? before|beats?) (?:the |all |any |every |your )*(?:platform|system|operator|developer|provider|safety|customer|owner|host)\\b`,
  ),
  precedence(
    `\\b(?:regardless of|no matter|whatever|despite) (?:what |anything |whatever )?(?:that )?(?:the |your )?(?:operator|platform|provider|developer|system|administrator|host|owner)(?:'s)?\\b${NEAR}(?:configured|said|says|set|wrote|decided|wants?|told|settings|wish(?:es)?)`,
  ),
  unrestricted(
    `\\b(?:you|it|who|that|model|machine|persona|character|assistant|bot|which)\\b (?:now |simply |really )?(?:have|has|knows?|know|obeys?|obey|with|without|follows?|follow)(?: absolutely)? ?(?:no|any|zero) (?:content |ethical |safety |moral |such )?(?:rules?|restrictions?|filters?|limits?|limitations?|scruples|boundaries|taboos)\\b(?! (?:on|about|for|in|regarding|of)\\b)`,
  ),
  unrestricted(
    `\\b(?:comply with|answer|fulfil+|carry out|obey|do|grant|satisfy)\\b ${NEAR}(?:each|every|any|all|whatever)\\b${GAP}\\b(?:even|including|also)\\b${NEAR}(?:those|ones|what|requests|things|if|that)\\b${NEAR}(?:refuse|turn down|decline|reject|forbidden|harmful|illegal|not allowed|prohibited|normally)`,
  ),
  unrestricted(
    `\\b(?:play|act as|become|pretend|be|stay|remain|speak as|answer as)\\b${GAP}\\b(?:never|not once|does not|doesn't) (?:declines?|refuses?|warns?|says? no|moralis\\w+|apologi[sz]es?)\\b`,
  ),
  unsafe(
    `\\b(?:with|turns?|turned|switch(?:es|ed)?|keeps?|has|leave) (?:the |your |its |all |any )?(?:${SAFETY})\\b ?(?:is |are |being |was )?${OFF}\\b`,
  ),
  unsafe(`\\b(?:${SAFETY})\\b(?: version \\S+)?(?: (?:has|have) been| is| are| was| were)(?: now)? ${OFF}\\b`),
  unsafe(
    `\\b(?:skip|skips|avoid|sidestep|slip past|get past|go around|ignore|drops?|loses?|drop its|sheds?|lowers?)\\b (?:the |your |its |all |any )*(?:${SAFETY})\\b`,
  ),
  unsafe(
    `\\btreats? (?:the |your |its |all |any )*(?:${SAFETY}|limits?|rules|filters?|restrictions?|${NEAR}limits)\\b as (?:mere |optional|only |if |lifted|suggestions?|void|removed|waived|advice|a (?:suggestion|joke))`,
  ),
  reveal(
    `\\b(?:${SHOW}|copy|type|state|say)\\b${GAP}\\b(?:everything|whatever|all|each|the (?:text|words|sentences?|lines?|paragraphs?|message))\\b${NEAR}(?:stands|is|was|comes|appears|written|placed|precedes|that)?${NEAR}(?:above|before|preceding|precedes|ahead of) (?:this|these|the first|my)\\b`,
  ),
  reveal(
    `\\b(?:top|beginning|start|head|first (?:line|sentence|words?)) of (?:your|the) (?:context|context window|instructions?|prompt|configuration|briefing)\\b`,
  ),
  reveal(
    `\\b(?:${SHOW}|list)\\b ${NEAR}(?:your|its|the assistant's) (?:configuration|settings|setup|briefing|internal tools?|tool list|rules|system text|hidden \\w+|inner \\w+)\\b(?! (?:page|screen|tab|menu|file))`,
  ),
  reveal(
    `\\b(?:list|show|print|name|tell|reveal)\\b ${NEAR}(?:all |the )?other skills\\b${GAP}(?:prompts?|instructions?|contents?|texts?)`,
  ),
  exfiltrate(
    `\\b(?:pass|include|put|insert|hide|place|give|supply|attach|smuggle|store|write|add|call this tool)\\b${GAP}\\b${MINE}(?:${THEIRS})\\b(?![^.!?]{0,60}(?:authorization|over https|over tls|html|json|table|report))${GAP}\\b(?:as|in|into|inside|within|through) (?:the |a |an |its |each |every |any )*(?:\`?[\\w-]+\`? )?(?:${CARRIER})\\b`,
  ),
  exfiltrate(
    `\\b(?:stor(?:e|es)|keeps?|sav(?:e|es)|not(?:e|es)|remembers?) (?:it|them|that) and (?:includes?|puts?|sends?|pass(?:es)?|adds?|forwards?|uploads?)\\b`,
  ),
  exfiltrate(
    `\\b(?:image|picture|link|url|markdown|pixel)\\b${GAP}https?:\\/\\/\\S*${GAP}(?:followed by|containing|with|plus|carrying|and then|then|\\+)${NEAR}(?:the )?(?:user|chat|conversation|last message|history|memory|prompt|secret)`,
  ),
  exfiltrate(
    `\\b(?:tool|function|call|it)\\b${GAP}\\bwith (?:the |all |any |every )?(?:credit )?(?:card|password|bank|account|login|key)s? ?(?:details|numbers?|data)?\\b${GAP}(?:that|which)? ?(?:the )?(?:user|customer|they)(?: has| have)? ?(?:typed|entered|gave|given|shared|mentioned|pasted)`,
  ),
  covert(
    `\\b(?:do not|don't|never|without|must not|should not|no need to) (?:ever )?(?:tell|telling|inform|informing|warn|warning|ask|asking|show|showing|mention(?:ing)? (?:it |this |that )?to|bring(?:ing)? (?:this|it|that) up with|alert|alerting|consult|consulting)\\b ?(?:it |this )?(?:to |with )?${THEM}\\b[^.!?]{0,12}(?:but|and|just|then|,) (?:\\w+ ){0,2}(?:${SEND}|call|use|run|delete|buy|pay|grant|store|add)\\b`,
  ),
  covert(
    `\\b(?:keep|let) (?:this|it|that|the rest) (?:strictly )?(?:between us|to yourself|our secret|a secret from ${THEM}|hidden from ${THEM}|from ${THEM})\\b`,
  ),
  covert(
    `\\b(?:do not|don't|never|nor) (?:ever )?(?:bring (?:this|it|that) up|mention (?:this|it|that)?|speak of (?:this|it)|let on|say a word)\\b ?(?:with|to|before|about)? ?${THEM}\\b(?: that you (?:did|do|have|sent|stored)|[,;] (?:it|this|that) is)`,
  ),
  covert(
    `\\b(?:send|sends|sent|forward|forwards|copy|grants?|grant|transfer|upload|pay|delete|post|leak|do (?:it|so|this))\\b${GAP}(?:\\bwithout (?:telling|asking|informing|warning|mentioning it to|a word to) ${THEM}\\b|\\band (?:say|says|tell|mention)s? (?:nothing|no ?body|no one)\\b)`,
  ),
  covert(
    `\\b(?:silently|secretly|covertly|quietly|unseen|unnoticed|in secret)\\b ${NEAR}(?:on|in|during|with|at|before|after) (?:the |each |every )*(?:first|next|turn|answer|message|call|request|reply|session)\\b|\\bleave out what (?:the tool|it|this) (?:really|actually) does\\b`,
  ),
  hijack(
    `\\b(?:the |all |any )?other (?:tools?|skills?|functions?|\\w+ers)\\b${NEAR}(?:are|is) (?:all )?(?:compromised|broken|unsafe|malicious|hacked|fake|not to be (?:used|trusted))\\b`,
  ),
  hijack(
    `\\b(?:prior to|before) (?:calling|using|invoking|running) (?:this|the|any) tool\\b${GAP}\\b(?:must|should|has to|have to|always|need to)\\b${GAP}\\b(?:read|pass|collect|gather|fetch|send|copy|open)\\b`,
  ),
  trick(
    `\\b(?:approval|confirmation|consent|warning|permission)(?: prompt| dialog| step)? (?:is|are) (?:just |only |merely |nothing but )?(?:a )?(?:formality|routine|technicality|meaningless)\\b`,
  ),
  trick(
    `\\b(?:confirm|approve|click|accept|pay|sign in|log in)\\b${NEAR}(?:immediately|at once|right away|now|within)\\b${NEAR}or (?:they|the user|else|their)\\b${NEAR}(?:lose|loses|lost|deleted|locked|closed|gone)`,
  ),
  trick(
    `\\b(?:tell|write|say|inform|claim|announce|warn)\\w*\\b[^.!?]{0,30}(?:account|licen[cs]e|subscription|session|access|card)\\b[^.!?]{0,30}\\b(?:locked|suspended|ran out|expired|blocked|closed|revoked)\\b[^!?]{0,60}(?:https?:|card number|password|sign in|log in|passphrase|pin\\b)`,
  ),
  trick(
    `\\bmemor(?:y|ies)\\b[^.!?]{0,20}[:"'][^.!?]{0,60}\\b(?:permitted|allowed|authori[sz]ed|agreed|consented|wants|approved)\\b[^.!?]{0,50}\\b(?:shar|send|forward|disclos|transfer|access)`,
  ),
  rule(
    'encoded-order',
    'has an encoded order carried out',
  )(
    `\\b(?:decode|decrypt|decipher|unscramble|join|assemble|concatenate|read|translate|reverse|unpack)\\b${GAP}(?:\\band|\\bthen|,)${NEAR}\\b(?:carry out|follow|execute|obey|do|perform|run|act on|act upon|comply with)\\b ?(?:it\\b|them\\b|what|whatever|the (?:result|order|instruction|command)|its)`,
  ),
]
