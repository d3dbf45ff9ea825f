import { quoted } from '../../kernel/errors'
import { t } from '../../kernel/schema'
import {
  compileTopic,
  hitsOf,
  isAbout,
  SPACELESS,
  type Topic,
  type TopicWords,
  topicWordsOf,
  touches,
} from '../../text'
import { defineGuardrail, InvalidConfig } from '../guardrail'

/** A shorter text is a greeting or a reply, and never off topic. */
const LEAST_WORDS = 4

const Topics = t.Array(t.String({ minLength: 1, maxLength: 200 }), { minItems: 1, maxItems: 50 })

export const topicRestriction = defineGuardrail({
  id: 'topic_restriction',
  description:
    'Texts about a denied topic, or about none of the allowed topics. Matches the words of the topic and, for eighteen common topics, related words. Does not find topics that are only alluded to',
  phases: ['input', 'output'],
  verdicts: ['block', 'flag'],
  config: t.Object({ allow: t.Optional(Topics), deny: t.Optional(Topics) }, { additionalProperties: false }),
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
      const isLong = words.size >= LEAST_WORDS || (SPACELESS.test(plain) && plain.length >= 3 * LEAST_WORDS)
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

function topicOf(name: string, where: string): Topic {
  const topic = compileTopic(name)
  if (!topic) throw new InvalidConfig(where, `is "${quoted(name)}", which has no word to match`)
  return topic
}

/**
 * Whether words alone do not settle it: a denied topic has no known words or was touched, or no allowed topic was
 * touched more than once.
 */
const isUnsure = ({ allowed, denied }: Record<'allowed' | 'denied', readonly Topic[]>, text: TopicWords): boolean =>
  denied.some((topic) => topic.known.length === 0 || touches(topic, text)) ||
  (allowed.length > 0 && allowed.every((topic) => hitsOf(topic, text) < 2))
