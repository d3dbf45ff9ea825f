import { Link, useLocation } from 'wouter'
import type { ApiKey, RotatedKey } from '../../../../../accounts/keys/schema'
import type { UsageSeries } from '../../../../../usage/schema'
import { deletion } from '../../shell/actions'
import { useGet, useOwner } from '../../shell/api'
import { boot, type Owner } from '../../shell/boot'
import { SplitChart } from '../../shell/charts'
import { Chip, Id } from '../../ui/controls'
import { Spent } from '../../ui/facts'
import { field } from '../../ui/fields'
import { Ago, dayOf, number, short, Time, whole } from '../../ui/format'
import { Shown } from '../../ui/states'
import { CHAT_PARAMETERS, KEY_FIELDS, NewSecret, SOUL } from './new'

const GRACES = { 0: 'no longer', 3600: 'for an hour', 86400: 'for a day', 604800: 'for 7 days' } as const

export function KeyState({ status, expires_at, revoked_at }: ApiKey) {
  if (status === 'rotating') return <Chip state="again">rotating</Chip>
  if (status === 'revoked') return <Chip state="off">{revoked_at ? 'revoked' : 'expired'}</Chip>
  const days = expires_at ? (Date.parse(expires_at) - Date.now()) / 86_400_000 : Number.POSITIVE_INFINITY
  return days < 7 ? <Chip state="warn">expires soon</Chip> : <Chip state="good">active</Chip>
}

export const KeySpending = ({ row: key }: { row: ApiKey }) => (
  <ul className="pair">
    <Spent name="Today" used={key.spent_today_cents} cap={key.daily_cap_cents} />
    <Spent name="This month" used={key.spent_month_cents} cap={key.monthly_cap_cents} />
  </ul>
)

export const TIERS = ['free', 'starter', 'pro', 'enterprise'] as const

const HOUR_MS = 3_600_000
const USAGE_HOURS = 720

/** The calls with a key over the last 30 days. Dragging over a part shows its calls. */
export function KeyUsage({ row: { id } }: { row: ApiKey }) {
  const { slug, looksAt } = useOwner()
  const [, navigate] = useLocation()
  const from = new Date((Math.floor(Date.now() / HOUR_MS) - USAGE_HOURS) * HOUR_MS).toISOString()
  const query = { key_id: id, from, step: '1d', timezone: boot.timezone }
  const usage = useGet<UsageSeries>('/usage/series', query, { off: looksAt === null })
  const zoom = (from: string, to: string) =>
    navigate(`/${slug}/requests?${new URLSearchParams({ key_id: id, from, to })}`)
  if (looksAt === null) return null
  return (
    <Shown of={usage} rows={3}>
      {(series) => <SplitChart title="Requests, 30 days" of={series} figure="requests" spell={number} onRange={zoom} />}
    </Shown>
  )
}

/** What can be done about a key. */
export function keyActions(key: ApiKey, close: () => void, { looksAt }: Owner) {
  const path = `/keys/${key.id}`
  const higher = looksAt === undefined ? TIERS.slice(TIERS.indexOf(key.tier) + 1) : []
  if (key.status === 'revoked') return { actions: [] }
  return {
    permission: 'manageApiKeys',
    actions: [
      { label: 'Change…', method: 'PATCH' as const, path, fields: KEY_FIELDS, values: key },
      {
        ...{ label: 'Set the brand soul…', method: 'PATCH' as const, path, fields: SOUL, values: key },
        ask: 'The voice of the answers to calls with this key, and the facts that they may use.',
      },
      {
        label: 'Rotate…',
        path: `${path}/rotate`,
        fields: [field('grace', 'The old secret works', { kind: 'choice' as const, choices: GRACES })],
        values: { grace: '86400' },
        body: ({ grace }: Record<string, unknown>) => ({ grace_period_seconds: Number(grace) }),
        ask: 'A new secret is made. Spending, caps and bindings stay.',
        shows: (made: RotatedKey) => <NewSecret made={made} close={close} />,
      },
      higher.length > 0 && {
        label: 'Ask for a higher tier…',
        path: '/rate-limits/request-increase',
        body: { key_id: key.id },
        fields: [
          field('requested_tier', 'Tier', { kind: 'choice' as const, choices: higher }),
          field('use_case', 'What for', { required: true }),
          field('expected_volume', 'Expected volume', { required: true }),
        ],
        values: { requested_tier: higher[0] },
        shows: () => (
          <p className="notice good" role="status">
            Asked. An operator of this server decides.
          </p>
        ),
      },
      deletion(path, <LastUse at={key.last_used_at} />, undefined, 'Revoke…'),
    ],
  }
}

export const keyFacts = (key: ApiKey, { slug }: Owner) => ({
  Calls: <Link href={`/${slug}/requests?key_id=${key.id}`}>Requests of this key</Link>,
  Status: <KeyState {...key} />,
  Id: <Id id={key.id} />,
  Prefix: <code>{key.prefix}…</code>,
  'Paid by': key.scope === 'org' ? 'the organization' : 'your personal account',
  Scopes: key.scopes.join(', '),
  Tier: key.tier,
  'Requests per minute': key.rpm_limit === null ? 'as the tier' : whole(key.rpm_limit),
  'Tokens per minute': key.tpm_limit === null ? 'as the tier' : whole(key.tpm_limit),
  Pages: key.allowed_origins.length ? key.allowed_origins.join(', ') : 'all',
  'Chat parameters': CHAT_PARAMETERS[key.chat_parameters],
  'Brand soul': key.brand_soul?.enabled ? 'used' : 'none',
  'Routing preference': <Bound list="routing-preferences" section="routing" id={key.routing_preference_id} />,
  'Guardrail policy': <Bound list="guardrail-policies" section="guardrails" id={key.guardrail_policy_id} />,
  Created: <Time at={key.created} only="day" />,
  'Last used': key.last_used_at ? <Ago at={key.last_used_at} /> : 'never',
  Expires: key.expires_at ? dayOf(key.expires_at) : 'never',
})

/** What a key is bound to, by its name. */
function Bound({ list, section, id }: { list: string; section: string; id: string | null }) {
  const { slug } = useOwner()
  const { data } = useGet<{ name: string }>(`/${list}/${id}`, {}, { off: id === null })
  if (id === null) return <>none</>
  return <Link href={`/${slug}/${section}/${id}`}>{data?.name ?? short(id)}</Link>
}

const LastUse = ({ at }: { at: string | null }) => (
  <>
    All calls with this key are refused at once. {at ? <>It was last used </> : 'It was never used.'}
    {at && <Ago at={at} />} This cannot be undone.
  </>
)
