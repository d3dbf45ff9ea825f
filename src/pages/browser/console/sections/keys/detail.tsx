import { useState } from 'react'
import { Link } from 'wouter'
import type { ApiKey, RotatedKey } from '../../../../../accounts/keys/schema'
import { Actions } from '../../shell/actions'
import { useMay, useOwner, useSend } from '../../shell/api'
import type { FormField } from '../../shell/form'
import { Button, Chip, Id, Select } from '../../ui/controls'
import { Facts, Spent } from '../../ui/facts'
import { Ago, dayOf, Time, whole } from '../../ui/format'
import { Ask } from '../../ui/overlay'
import { Failed } from '../../ui/states'
import { CHAT_PARAMETERS, KEY_FIELDS, Secret } from './new'

const GRACES = { 0: 'no longer', 3600: 'for an hour', 86400: 'for a day', 604800: 'for 7 days' } as const

const SOUL: readonly FormField[] = [
  { name: 'brand_soul.enabled', label: 'Use it', kind: 'check' },
  { name: 'brand_soul.persona', label: 'Who answers', kind: 'area', empty: 'text' },
  { name: 'brand_soul.tone', label: 'Tone', empty: 'text' },
  { name: 'brand_soul.knowledge', label: 'Facts, one per line', kind: 'lines' },
  { name: 'brand_soul.constraints', label: 'Rules, one per line', kind: 'lines' },
]

export function KeyState({ status, expires_at, revoked_at }: ApiKey) {
  if (status === 'rotating') return <Chip state="again">rotating</Chip>
  if (status === 'revoked') return <Chip state="off">{revoked_at ? 'revoked' : 'expired'}</Chip>
  const days = expires_at ? (Date.parse(expires_at) - Date.now()) / 86_400_000 : Number.POSITIVE_INFINITY
  return days < 7 ? <Chip state="warn">expires soon</Chip> : <Chip state="good">active</Chip>
}

export function KeyDetail({ row: key, close }: { row: ApiKey; close(): void }) {
  const may = useMay('manageApiKeys')
  const owner = useOwner()
  const [asked, setAsked] = useState<'rotate' | 'revoke' | null>(null)
  const [grace, setGrace] = useState('86400')
  const rotate = useSend<RotatedKey, object>('POST', `/keys/${key.id}/rotate`, ['/keys'])
  const revoke = useSend<unknown>('DELETE', `/keys/${key.id}`, ['/keys'])
  if (rotate.data) return <Secret made={rotate.data} close={close} />
  const problem = rotate.error ?? revoke.error
  const facts: [string, React.ReactNode][] = [
    ['Status', <KeyState key="state" {...key} />],
    ['Id', <Id key="id" id={key.id} />],
    ['Begins with', <code key="prefix">{key.prefix}…</code>],
    ['Paid by', key.scope === 'org' ? 'the organization' : 'your personal account'],
    ['Scopes', key.scopes.join(', ')],
    ['Tier', key.tier],
    ['Requests per minute', key.rpm_limit === null ? 'as the tier' : whole(key.rpm_limit)],
    ['Tokens per minute', key.tpm_limit === null ? 'as the tier' : whole(key.tpm_limit)],
    ['Pages', key.allowed_origins.length ? key.allowed_origins.join(', ') : 'all'],
    ['Chat parameters', CHAT_PARAMETERS[key.chat_parameters]],
    ['Brand soul', key.brand_soul?.enabled ? 'used' : 'none'],
    ['Routing preference', key.routing_preference_id ?? 'none'],
    ['Guardrail policy', key.guardrail_policy_id ?? 'none'],
    ['Made', <Time key="made" at={key.created} only="day" />],
    ['Last used', key.last_used_at ? <Ago key="used" at={key.last_used_at} /> : 'never'],
    ['Expires', key.expires_at ? dayOf(key.expires_at) : 'never'],
  ]
  return (
    <>
      <ul className="pair">
        <Spent name="Today" used={key.spent_today_cents} cap={key.daily_cap_cents} />
        <Spent name="This month" used={key.spent_month_cents} cap={key.monthly_cap_cents} />
      </ul>
      {problem && <Failed problem={problem} />}
      {key.status !== 'revoked' && (
        <Actions
          touches={['/keys']}
          permission="manageApiKeys"
          actions={[
            { label: 'Change…', method: 'PATCH', path: `/keys/${key.id}`, fields: KEY_FIELDS, values: key },
            {
              label: 'Set the brand soul…',
              method: 'PATCH',
              path: `/keys/${key.id}`,
              fields: SOUL,
              values: key,
              ask: 'The voice of the answers to calls with this key, and the facts that they may use.',
            },
          ]}
        />
      )}
      {may && key.status !== 'revoked' && (
        <div className="actions">
          <Button onClick={() => setAsked('rotate')}>Rotate…</Button>
          <Button kind="danger" onClick={() => setAsked('revoke')}>
            Revoke…
          </Button>
        </div>
      )}
      <Link href={`/${owner.slug}/requests?key_id=${key.id}`}>Requests of this key</Link>
      <Facts facts={facts} />
      {asked === 'rotate' && (
        <Ask
          title={`Rotate “${key.name}”`}
          verb="Rotate"
          busy={rotate.isPending}
          onClose={() => setAsked(null)}
          onDo={() => {
            rotate.mutate({ grace_period_seconds: Number(grace) })
            setAsked(null)
          }}
        >
          <p>A new secret is made. Spending, caps and bindings stay.</p>
          <Select label="The old secret works" value={grace} choices={Object.entries(GRACES)} onChange={setGrace} />
        </Ask>
      )}
      {asked === 'revoke' && (
        <Ask
          title={`Revoke “${key.name}”`}
          verb="Revoke"
          danger
          busy={revoke.isPending}
          onClose={() => setAsked(null)}
          onDo={() => {
            revoke.mutate()
            setAsked(null)
          }}
        >
          <p>
            All calls with this key are refused at once.{' '}
            {key.last_used_at ? (
              <>
                It was last used <Ago at={key.last_used_at} />.
              </>
            ) : (
              'It was never used.'
            )}{' '}
            This cannot be undone.
          </p>
        </Ask>
      )}
    </>
  )
}
