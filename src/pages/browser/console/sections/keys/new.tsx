import { useRef, useState } from 'react'
import type { ApiKeyWithSecret } from '../../../../../accounts/keys/schema'
import type { UsageReport } from '../../../../../usage/schema'
import { Doing } from '../../shell/actions'
import { useGet, useOwner } from '../../shell/api'
import { at } from '../../shell/boot'
import { curlOf, FIRST_CALL } from '../../shell/curl'
import { scopeOf } from '../../shell/rule-set'
import { Button, Check, Code, End, Secret, saveFile } from '../../ui/controls'
import { type FormField, field } from '../../ui/fields'
import { money } from '../../ui/format'
import { Failed, type Problem } from '../../ui/states'

const SCOPES = [
  ['completions', 'Answers, chat, images, audio, documents and research'],
  ['skills', 'Skills, canvases, workflows and hooks'],
  ['tools', 'Tools, code and browsers'],
  ['connectors', 'Webhooks, widgets and channels'],
  ['billing', 'Credit, usage exports and rate limits'],
] as const
/** Effect of parameters such as top_p in chats. */
export const CHAT_PARAMETERS = { by_base: 'as the base address says', honor: 'honored', ignore: 'ignored' } as const

const amount = { kind: 'cents', help: 'Empty: no cap.', empty: 'null', min: 0.01, half: true } as const
const rate = { kind: 'number', help: "Empty: the tier's limit.", empty: 'null', min: 1, step: 1, half: true } as const
/** Fields that a key's owner can set, at creation and later. */
export const KEY_FIELDS: readonly FormField[] = [
  field('name', 'Name', { help: 'Who or what uses it, such as “web shop”.', required: true }),
  field('scopes', 'Scopes', { kind: 'checks', choices: SCOPES }),
  field('monthly_cap_cents', 'Monthly cap, in dollars', amount),
  field('daily_cap_cents', 'Daily cap, in dollars', amount),
  field('rpm_limit', 'Requests per minute', rate),
  field('tpm_limit', 'Tokens per minute', rate),
  field('expires_at', 'Expires', { kind: 'until', empty: 'null' }),
  field('chat_parameters', 'Chat parameters', {
    kind: 'choice',
    choices: Object.entries(CHAT_PARAMETERS),
    help: 'Such as top_p, max_tokens and stop.',
  }),
  field('allowed_origins', 'Allowed origins', {
    kind: 'list',
    help: 'Origins such as https://app.example, separated by spaces. Empty: all.',
  }),
]
const ALL = { scopes: SCOPES.map(([scope]) => scope) }

/** The voice of the answers to calls with a key. */
export const SOUL: readonly FormField[] = [
  field('brand_soul.enabled', 'Use it', { kind: 'check' }),
  field('brand_soul.persona', 'Who answers', { kind: 'area', empty: 'text' }),
  field('brand_soul.tone', 'Tone', { empty: 'text' }),
  field('brand_soul.knowledge', 'Facts, one per line', { kind: 'lines' }),
  field('brand_soul.constraints', 'Rules, one per line', { kind: 'lines' }),
]

const BOUND = [
  ['routing_preference_id', 'Routing preference', 'routing_preferences', 'routing-preference'],
  ['guardrail_policy_id', 'Guardrail policy', 'guardrail_policies', 'guardrails'],
] as const

type Bindings = { [Member in (typeof BOUND)[number][0]]?: string }

/** Fields for what a new key is bound to, of what its owner has. */
function useBound(): FormField[] {
  type Named = Record<string, { id: string; name: string }[]>
  const query = { ...scopeOf(useOwner()), limit: 100 }
  const lists = [useGet<Named>('/routing-preferences', query), useGet<Named>('/guardrail-policies', query)]
  return BOUND.map(([name, label, member, path], at) => {
    const all = lists[at]!.data?.[member]?.map((it) => [it.id, it.name] as const) ?? []
    const help = `A second call: PUT /keys/{id}/${path}.`
    return field(name, label, { kind: 'choice', choices: [['', 'the default'], ...all], help, half: true })
  })
}

/** What the owner may spend, beside the caps of a key. */
function useCapHelp(): (kind: 'daily' | 'monthly') => string {
  const { id } = useOwner()
  const { data } = useGet<UsageReport>('/usage')
  return (kind) => {
    const cap = data?.spending[`${kind}_cap_cents`]
    if (cap == null) return 'Empty: no cap.'
    const used = money(data!.spending[`${kind}_used_cents`])
    return `Empty: that of the ${id ? 'organization' : 'account'}, ${money(cap)}, of which ${used} is spent.`
  }
}

/** All settings of a new key, then its secret. */
export function useNewKey() {
  const { id, name } = useOwner()
  const help = useCapHelp()
  const bound = useRef<Bindings>({})
  const [, persona, ...voice] = SOUL
  const own = KEY_FIELDS.map((it) => {
    const kind = /^(daily|monthly)_cap_cents$/.exec(it.name)?.[1] as 'daily' | 'monthly' | undefined
    return kind ? { ...it, help: help(kind) } : it
  })
  return {
    lead: `Paid by ${id ? name : 'your personal account'}.`,
    fields: [...own, ...useBound(), { ...persona!, label: 'Brand soul: who answers' }, ...voice],
    values: ALL,
    more: ({ routing_preference_id, guardrail_policy_id, brand_soul, ...body }: Record<string, unknown>) => {
      bound.current = { routing_preference_id, guardrail_policy_id } as Bindings
      const isGiven = Object.values(brand_soul as Record<string, string | string[]>).some(({ length }) => length > 0)
      const soul = isGiven && { brand_soul: { enabled: true, ...(brand_soul as object) } }
      return { ...body, ...soul, ...(id ? { scope: 'org', org_id: id } : { scope: 'personal' }) }
    },
    after: (made: ApiKeyWithSecret, close: () => void) => (
      <>
        {BOUND.map(([member, , , path]) => {
          const to = bound.current[member]
          return to && <Bind key={path} path={`/keys/${made.id}/${path}`} body={{ [member]: to }} />
        })}
        <NewSecret made={made} close={close} />
      </>
    ),
  }
}

/** Binds a new key at once, and shows only why it could not. */
function Bind({ path, body }: { path: string; body: Record<string, unknown> }) {
  const [problem, setProblem] = useState<Problem | null>(null)
  const ignore = () => {}
  return (
    <>
      <Doing
        action={{ label: 'Bind', method: 'PUT', path, body }}
        touches={['/keys']}
        onProblem={setProblem}
        onAnswer={ignore}
        onEnd={ignore}
      />
      {problem && <Failed problem={problem} />}
    </>
  )
}

/** Shows the secret once: to copy, to download, and in a first call. */
export function NewSecret({ made: { key, name }, close }: { made: { key: string; name: string }; close(): void }) {
  const [isStored, setStored] = useState(false)
  const base = new URL(at('/api/v1'), location.origin).href
  const env = `SVC_API_KEY=${key}\nSVC_BASE_URL=${base}\n`
  return (
    <div className="form">
      <p className="notice good" role="status">
        “{name}” is ready. This is its secret: it is shown only now.
      </p>
      <Secret label="Secret" value={key}>
        <Button onClick={() => saveFile(new Blob([env], { type: 'text/plain' }), '.env')}>Download .env</Button>
      </Secret>
      <h3>A first call</h3>
      <Code text={curlOf('/completions', FIRST_CALL)} label="first call" />
      <Check label="I have stored it" checked={isStored} onChange={setStored} />
      <End disabled={!isStored} onClose={close} />
    </div>
  )
}
