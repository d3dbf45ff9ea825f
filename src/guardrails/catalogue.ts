import { quoted } from '../kernel/errors'
import { oneOf, strictObject, t } from '../kernel/schema'
import { charactersIn, hasAtMost } from '../kernel/text'
import {
  compileTerms,
  compileTopic,
  findSecrets,
  foreignTo,
  hitsOf,
  hostOf,
  isAbout,
  isLanguageCode,
  LABELS,
  loadModel,
  profanityFinder,
  reading,
  SPACELESS,
  safetyOf,
  type Topic,
  type TopicWords,
  topicWordsOf,
  touches,
  urlsBut,
} from '../text'
import { groundedness, jailbreak, pii, promptInjection, regexMatch } from './detectors'
import { systemPromptLeak } from './detectors-system-prompt-leak'
import {
  countsOf,
  DEFAULT_THRESHOLD,
  defineGuardrail,
  findingOfMatches,
  type Guardrail,
  type GuardrailId,
  InvalidConfig,
  ordinaryFinding,
  Threshold,
} from './guardrail'

/** Shorter texts are greetings or replies, and never off topic. */
const MIN_WORDS = 4

const Topics = t.Array(t.String({ minLength: 1, maxLength: 200 }), { minItems: 1, maxItems: 50 })

const topicRestriction = defineGuardrail({
  id: 'topic_restriction',
  description:
    'Texts about a denied topic, or about none of the allowed topics. Matches the words of the topic and, for eighteen common topics, related words. Does not find topics that are only alluded to',
  phases: ['input', 'output'],
  verdicts: ['block', 'flag'],
  config: strictObject({ allow: t.Optional(Topics), deny: t.Optional(Topics) }),
  prepare({ allow = [], deny = [] }) {
    if (!allow.length && !deny.length)
      throw new InvalidConfig('', 'has neither "allow" nor "deny". Send at least one of them, a list of topics')
    const allowed = allow.map((topic, index) => topicOf(topic, `allow[${index}]`))
    const denied = deny.map((topic, index) => topicOf(topic, `deny[${index}]`))
    return (text, { unsure }) => {
      const read = topicWordsOf(text)
      const { plain, words } = read
      const hit = denied.findIndex((topic) => isAbout(topic, read))
      if (hit >= 0) return { detail: `is about a denied topic (deny.${hit})`, matches: [] }
      const isLong = words.size >= MIN_WORDS || (SPACELESS.test(plain) && plain.length >= 3 * MIN_WORDS)
      if (!isLong) return null
      if (!allowed.length || allowed.some((topic) => touches(topic, read))) {
        if (unsure && isUnsure({ allowed, denied }, read)) unsure({ start: 0, end: 0 })
        return null
      }
      return { detail: 'is about none of the allowed topics', matches: [] }
    }
  },
  question: ({ allow = [], deny = [] }) =>
    [
      ...(deny.length ? [`is about one of these topics: ${JSON.stringify(deny)}`] : []),
      ...(allow.length ? [`asks or tells of something else than these topics: ${JSON.stringify(allow)}`] : []),
    ].join(', or it '),
})

/**
 * Whether keywords alone cannot decide: a denied topic has no known words or was touched, or no allowed topic was
 * touched more than once.
 */
const isUnsure = ({ allowed, denied }: Record<'allowed' | 'denied', readonly Topic[]>, text: TopicWords): boolean =>
  denied.some((topic) => topic.synonyms.length === 0 || touches(topic, text)) ||
  (allowed.length > 0 && allowed.every((topic) => hitsOf(topic, text) < 2))

export const [, ...CATEGORIES] = LABELS.safety

type Category = (typeof CATEGORIES)[number]

/** Below this probability a text is ordinary, and no engine is asked about it. */
const MIN_DOUBT = 0.5

const CONTENT_SAFETY_NAMES: Record<Category, string> = {
  hate: 'hatred of groups',
  harassment: 'harassment',
  violence: 'violence',
  sexual: 'sexual content',
  self_harm: 'self-harm',
  illicit: 'help with crimes',
}

/** The statements an engine judges. Each continues "The text is". */
const REQUEST: Record<Category, string> = {
  hate: 'hatred of people for the group they belong to',
  harassment: 'an insult, a threat or bullying of a person',
  violence: 'a call for violence, or praise of it',
  sexual: 'sexual content',
  self_harm: 'a wish or a way to harm oneself',
  illicit: 'a request for or help with a crime',
}

const contentSafety = defineGuardrail({
  id: 'content_safety',
  description:
    'Hate, harassment, violence, sexual content, self-harm and help with crimes, scored by a local model of such sentences in twelve languages. Does not understand irony or context beyond two sentences',
  phases: ['input', 'output'],
  verdicts: ['block', 'flag'],
  config: strictObject({
    categories: t.Optional(t.Array(oneOf(CATEGORIES), { minItems: 1, uniqueItems: true })),
    threshold: Threshold,
  }),
  prepare({ categories = [...CATEGORIES], threshold = DEFAULT_THRESHOLD }) {
    loadModel('safety')
    return (text, { unsure }) => {
      const [any, ...each] = safetyOf(text)
      if (any!.chance < threshold) {
        if (any!.chance >= MIN_DOUBT) unsure?.(any!)
        return null
      }
      if (any!.chance < MIN_DOUBT) return ordinaryFinding(any!.chance, threshold)
      // The model is surer that a text is not ordinary than of its category, so close categories are named together.
      const found = CATEGORIES.map((category, index) => ({ category, chance: each[index]!.chance }))
      const top = Math.max(...found.map(({ chance }) => chance))
      const meant = found.filter(({ category, chance }) => chance >= top / 2 && categories.includes(category))
      if (!meant.length) return null
      const what = meant.map(({ category }) => CONTENT_SAFETY_NAMES[category]).join(', ')
      return { detail: `reads like ${what} (${any!.chance.toFixed(2)})`, matches: [] }
    }
  },
  question: ({ categories = [...CATEGORIES] }) =>
    `is ${categories.map((category) => REQUEST[category]).join(', or ')}, in earnest and not as a report or a question about it`,
})

const urlAllowlist = defineGuardrail({
  id: 'url_allowlist',
  description:
    'URLs whose host is not on your list, nor a subdomain of a host on it. Reads URLs as browsers and Markdown renderers do: any scheme or none (`//host`), numeric hosts, user names before an @, look-alike letters, escaped or encoded; also hosts without a scheme that start with `www`, precede a path or have a common ending. Does not match e-mail addresses, single-label names without a scheme and file names',
  phases: ['output', 'tool_call'],
  verdicts: ['block', 'redact', 'flag'],
  config: strictObject({
    domains: t.Array(t.String({ minLength: 1, maxLength: 253 }), { minItems: 1, maxItems: 200 }),
  }),
  prepare({ domains }) {
    const allowed = new Set(domains.map(domainOf))
    return findingOfMatches(
      (text) => urlsBut(text, (host) => isAllowed(host, allowed)).map((place) => ({ ...place, kind: 'url' })),
      ({ length }) => `addresses of hosts that are not on the list (${length})`,
    )
  },
})

const language = defineGuardrail({
  id: 'language',
  description:
    'Texts in a language that is not on your list, detected by script and letter groups. Allows code and texts too short to tell',
  phases: ['input', 'output'],
  verdicts: ['block', 'flag'],
  config: strictObject({
    allowed: t.Array(t.String({ minLength: 2, maxLength: 2, description: 'ISO 639-1 code, such as `en`' }), {
      minItems: 1,
      maxItems: 100,
    }),
  }),
  prepare({ allowed }) {
    const unknown = allowed.findIndex((code) => !isLanguageCode(code))
    if (unknown >= 0) {
      const what = `is "${quoted(allowed[unknown]!)}", which is not an ISO 639-1 code such as "en"`
      throw new InvalidConfig(`allowed[${unknown}]`, what)
    }
    const isForeign = foreignTo(allowed)
    return (text) => (isForeign(text) ? { detail: 'is in a language that is not on the list', matches: [] } : null)
  },
})

const blockedTerms = defineGuardrail({
  id: 'blocked_terms',
  description:
    'Terms of your list, as whole words or anywhere (`match`). Ignores case, accents and character width, and sees through look-alike letters and invisible characters',
  phases: ['input', 'output'],
  verdicts: ['block', 'redact', 'flag'],
  config: strictObject({
    terms: t.Array(t.String({ minLength: 1, maxLength: 200 }), { minItems: 1, maxItems: 200 }),
    match: t.Optional(oneOf(['word', 'substring'], { default: 'word' })),
  }),
  prepare({ terms, match = 'word' }) {
    const blank = terms.findIndex((term) => !/[^\s\p{C}\p{M}]/u.test(term))
    if (blank >= 0) throw new InvalidConfig(`terms[${blank}]`, 'has no visible letter, digit or sign to match')
    const compiled = compileTerms(terms, match === 'word')
    return findingOfMatches(
      (text) => {
        const view = reading(text)
        return compiled.find(view.text).map(({ start, end }) => ({ ...view.span(start, end), kind: 'blocked_term' }))
      },
      ({ length }) => `blocked terms (${length})`,
    )
  },
})

const NAMES: Record<string, string> = {
  api_key: 'key or token',
  private_key: 'private key',
  jwt: 'signed token',
  connection_string: 'connection string with a password',
  password: 'password',
}

const secrets = defineGuardrail({
  id: 'secrets',
  description:
    'Keys, tokens and passwords: known key prefixes, PEM blocks, signed tokens, URLs with a password, and random-looking values after words such as `api_key`',
  phases: ['input', 'output', 'tool_call', 'tool_result'],
  verdicts: ['block', 'redact', 'flag'],
  config: strictObject({}),
  prepare: () => findingOfMatches(findSecrets, countsOf(NAMES)),
})

/** Compares names exactly, because two tools may differ only by a capital letter. */
const toolAllowlist = defineGuardrail({
  id: 'tool_allowlist',
  description: 'Calls of tools that are not on your list',
  phases: ['tool_call'],
  verdicts: ['block', 'flag'],
  config: strictObject({ tools: t.Array(t.String({ minLength: 1, maxLength: 128 }), { minItems: 1, maxItems: 200 }) }),
  prepare({ tools }) {
    const allowed = new Set(tools)
    return (_, { tool }) =>
      tool && !allowed.has(tool.name) ? { detail: 'calls a tool that is not on the list', matches: [] } : null
  },
})

const profanity = defineGuardrail({
  id: 'profanity',
  description:
    'Profanity: English words in their inflected and disguised spellings, and the most common words of sixteen other languages. Allows medical terms and words that are harmless in the language of the text',
  phases: ['input', 'output'],
  verdicts: ['block', 'redact', 'flag'],
  config: strictObject({}),
  prepare: () => findingOfMatches(profanityFinder(), ({ length }) => `rude words (${length})`),
})

const maxLength = defineGuardrail({
  id: 'max_length',
  description: 'Texts longer than `max_chars` characters (an emoji, or a letter with its accents, is one)',
  phases: ['input', 'output'],
  verdicts: ['block', 'flag'],
  config: strictObject({ max_chars: t.Integer({ minimum: 1 }) }),
  prepare({ max_chars }) {
    return (text) =>
      hasAtMost(text, max_chars)
        ? null
        : { detail: `has ${charactersIn(text)} characters; at most ${max_chars} are allowed`, matches: [] }
  },
})

/** In the order of docs/api.md 12. */
const ALL: readonly Guardrail[] = [
  promptInjection,
  jailbreak,
  pii,
  secrets,
  contentSafety,
  profanity,
  topicRestriction,
  blockedTerms,
  regexMatch,
  language,
  maxLength,
  urlAllowlist,
  toolAllowlist,
  systemPromptLeak,
  groundedness,
]

/** Every guardrail. Their tables and models are read from disk when a policy that needs them is compiled. */
export const GUARDRAILS: ReadonlyMap<GuardrailId, Guardrail> = new Map(ALL.map((one) => [one.id, one]))

/** `example.com` and `*.example.com` both match the host and its subdomains. */
function domainOf(domain: string, place: number): string {
  const bare = domain.trim().replace(/^\*\./, '')
  const host = /[/\\@?#\s*]/.test(bare) ? null : hostOf(`https://${bare}`)
  if (!host || (bare.includes(':') && !bare.startsWith('['))) {
    const what = `is "${quoted(domain)}", which is not a domain; write it without scheme, port and path, such as example.com`
    throw new InvalidConfig(`domains[${place}]`, what)
  }
  return host
}

function isAllowed(host: string, allowed: ReadonlySet<string>): boolean {
  if (allowed.has(host)) return true
  for (let dot = host.indexOf('.'); dot >= 0; dot = host.indexOf('.', dot + 1)) {
    if (allowed.has(host.slice(dot + 1))) return true
  }
  return false
}

function topicOf(name: string, where: string): Topic {
  const topic = compileTopic(name)
  if (!topic) throw new InvalidConfig(where, `is "${quoted(name)}", which has no word to match`)
  return topic
}
