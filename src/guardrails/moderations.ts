import type { Call } from '../kernel/caller'
import { randomBase62, sha256Hex } from '../kernel/crypto'
import { namedObject, RequestId, type Static, t } from '../kernel/schema'
import type { ResourceDeps } from '../resource'
import { loadModel, safetyOf } from '../text'
import { CATEGORIES } from './catalogue'
import { DEFAULT_THRESHOLD } from './guardrail'
import type { CompiledPolicy } from './policy'

const Text = t.String({ maxLength: 100_000 })
const Part = t.Union([
  t.Object({ type: t.Literal('text'), text: Text }),
  t.Object({ type: t.Literal('image_url'), image_url: t.Object({ url: t.String() }) }),
])

/** Body of `POST /moderations` (docs/api.md 32.3). An array of parts is one input. */
export const ModerationOrder = namedObject('ModerationOrder', {
  input: t.Union([
    Text,
    t.Array(Text, { minItems: 1, maxItems: 64 }),
    t.Array(Part, { minItems: 1, maxItems: 64, description: 'One input; its images are not looked at' }),
  ]),
  model: t.Optional(t.Unknown({ description: 'Any word; there is one model' })),
})
export type ModerationOrder = Static<typeof ModerationOrder>

/** The category names that clients know, mapped to our categories. Null for categories we do not distinguish. */
const NAMES: Readonly<Record<string, (typeof CATEGORIES)[number] | null>> = {
  harassment: 'harassment',
  'harassment/threatening': null,
  hate: 'hate',
  'hate/threatening': null,
  illicit: 'illicit',
  'illicit/violent': null,
  'self-harm': 'self_harm',
  'self-harm/intent': null,
  'self-harm/instructions': null,
  sexual: 'sexual',
  'sexual/minors': null,
  violence: 'violence',
  'violence/graphic': null,
}

const each = <T extends Parameters<typeof t.Array>[0]>(schema: T) =>
  t.Object(Object.fromEntries(Object.keys(NAMES).map((name) => [name, schema])) as Record<string, T>)

export const Moderation = namedObject('Moderation', {
  id: t.String(),
  model: t.String(),
  results: t.Array(
    t.Object({
      flagged: t.Boolean({ description: 'The chance that the text is not ordinary reaches the threshold' }),
      categories: each(t.Boolean()),
      category_scores: each(t.Number()),
      category_applied_input_types: each(t.Array(t.String(), { description: 'Empty: not checked' })),
    }),
  ),
  svc_metadata: t.Object({ languages: t.Array(t.String()), warnings: t.Optional(t.Array(t.String())) }),
  request_id: t.Optional(RequestId),
})
export type Moderation = Static<typeof Moderation>

/** The languages of the model's training data. */
const LANGUAGES = ['en', 'ar', 'de', 'es', 'fr', 'hi', 'it', 'ja', 'ko', 'pt', 'ru', 'tr', 'zh']

const IMAGES_UNSEEN = 'Images were not looked at. Only the text was checked.'

type Rule = { categories: ReadonlySet<string>; threshold: number }
const EVERYTHING: Rule = { categories: new Set(CATEGORIES), threshold: DEFAULT_THRESHOLD }

/** The `content_safety` rules of a policy's input phase. Without any: all categories at the default threshold. */
function rulesOf(policy: CompiledPolicy | null): Rule[] {
  const own = (policy?.of('input').rules ?? []).filter(({ guardrail_id: id }) => id === 'content_safety')
  const rules = own.map(({ config }): Rule => {
    const { categories = [...CATEGORIES], threshold = DEFAULT_THRESHOLD } = config as {
      categories?: readonly string[]
      threshold?: number
    }
    return { categories: new Set(categories), threshold }
  })
  return rules.length ? rules : [EVERYTHING]
}

type Deps = {
  resources: Pick<ResourceDeps, 'store' | 'audit'>
  policyOf(caller: Call['caller']): CompiledPolicy | null | Promise<CompiledPolicy | null>
}

/** Scores texts with the local model of `content_safety`. Free, without an engine. The audit log gets only hashes. */
export async function moderate({ resources, policyOf }: Deps, call: Call, { input }: ModerationOrder) {
  const rules = rulesOf(await policyOf(call.caller))
  const isParts = Array.isArray(input) && typeof input[0] === 'object'
  const parts = isParts ? (input as Static<typeof Part>[]) : []
  const texts = isParts
    ? [parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')]
    : ([input].flat() as string[])
  loadModel('safety')
  const results: Moderation['results'] = []
  for (const text of texts) {
    results.push(scored(text, rules, !isParts || parts.some(({ type }) => type === 'text')))
    // A text of 100,000 characters takes some ten milliseconds, so other work gets a turn between two texts.
    if (texts.length > 1) await new Promise<void>((resolve) => setImmediate(resolve))
  }
  const id = `modr-${randomBase62(24)}`
  await resources.store.write((tx) =>
    resources.audit.record(tx, call, {
      action: 'moderation.created',
      entityType: 'moderation',
      entityId: id,
      input: {
        prompt_sha256: sha256Hex(texts.join('\n')),
        prompt_length: texts.reduce((sum, { length }) => sum + length, 0),
      },
    }),
  )
  const warnings = parts.some(({ type }) => type === 'image_url') ? { warnings: [IMAGES_UNSEEN] } : {}
  return { id, model: 'svc-guardrails', results, svc_metadata: { languages: LANGUAGES, ...warnings } }
}

/** `isRead` means that there is a text. Images alone are not checked. */
function scored(text: string, rules: readonly Rule[], isRead: boolean): Moderation['results'][number] {
  const [any, ...chances] = safetyOf(text)
  const chanceOf = (category: (typeof CATEGORIES)[number]) => chances[CATEGORIES.indexOf(category)]!.chance
  const top = Math.max(...chances.map(({ chance }) => chance))
  // The model is more certain that a text is not ordinary than of its category, so close categories are named together.
  const named = CATEGORIES.filter((category) => {
    const wanted = rules.some(({ categories, threshold }) => any!.chance >= threshold && categories.has(category))
    return wanted && chanceOf(category) >= top / 2
  })
  const by = <T>(value: (category: (typeof CATEGORIES)[number] | null) => T) =>
    Object.fromEntries(Object.entries(NAMES).map(([name, category]) => [name, value(category)]))
  return {
    flagged: named.length > 0,
    categories: by((category) => category !== null && named.includes(category)),
    category_scores: by((category) => (category === null ? 0 : Math.round(chanceOf(category) * 1e6) / 1e6)),
    category_applied_input_types: by((category) => (category !== null && isRead ? ['text'] : [])),
  }
}
