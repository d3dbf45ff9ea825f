import { counted } from '../../src/kernel/text'
import { bar, line, type Span, textSpan } from '../draw/line'
import { spellAge, spellCount, spellDollars, spellShare } from '../draw/spell'
import type { RowOf } from '../state/model'
import { column, dialog, its, listView, REASON } from './list-view'

type Key = RowOf<'keys'>

const NEAR = 0.9
const OLD_MS = 90 * 86_400_000

const isNearCap = ({ daily_cap_cents, spent_today_cents }: Key): boolean =>
  daily_cap_cents !== null && spent_today_cents >= daily_cap_cents * NEAR

const unusedFor = ({ last_used_at }: Key, now: number): number | null =>
  last_used_at && now - Date.parse(last_used_at) > OLD_MS ? now - Date.parse(last_used_at) : null

type Use = Key['rpm']

function spendOf(key: Key): Span {
  const cap = key.daily_cap_cents === null ? '–' : `$${Math.round(key.daily_cap_cents / 100)}`
  const near = isNearCap(key)
  return textSpan(`${spellDollars(key.spent_today_cents)} of ${cap}${near ? ' !' : ''}`, near ? 'warn' : undefined)
}

const share = ({ used, limit }: Use): number => (limit ? used / limit : 0)

const named = (name: string | null | undefined): string => (name ? `"${name}"` : 'none')

export const keys = listView<Key>({
  margin: 4,
  order: 'newest first',
  byOwner: true,
  hidden: { word: 'revoked', is: ({ status }) => status === 'revoked' },
  columns: [
    column('NAME', 13, ({ name }) => name, {
      grows: true,
      cell: ({ name, status }) => textSpan(name, status === 'revoked' ? 'dim' : undefined),
    }),
    column('PREFIX', 19, ({ prefix }) => prefix, { spare: true, cell: ({ prefix }) => textSpan(`${prefix}…`) }),
    column('TIER', 10, ({ tier }) => tier, {
      cell: ({ tier, status }) => (status === 'active' ? textSpan(tier) : textSpan(status, 'dim')),
    }),
    column('RPM NOW', 11, ({ rpm }) => rpm.used, { cell: ({ rpm }) => `${String(rpm.used).padStart(3)}/${rpm.limit}` }),
    column('SPEND TODAY', 15, ({ spent_today_cents }) => spent_today_cents, { cell: spendOf }),
    column('LAST USE', 8, ({ last_used_at }) => last_used_at ?? '', {
      cell: (key, { now }) =>
        key.last_used_at
          ? textSpan(
              `${spellAge(now - Date.parse(key.last_used_at))}${unusedFor(key, now) ? ' !' : ''}`,
              unusedFor(key, now) ? 'warn' : undefined,
            )
          : textSpan('never', 'dim'),
    }),
  ],
  fields: {
    ...its<Key>('name', 'prefix', 'tier', 'status', 'owner', 'id'),
    rpm: ({ rpm }) => rpm.used,
    spend: ({ spent_today_cents }) => spent_today_cents,
    scope: ({ scopes }) => scopes.join(' '),
  },
  total: ({ topics }) => Number(topics.keys?.facts.total ?? 0),
  title: ({ name }) => name,
  drawerRows: 9,
  drawer: (key, { now }, width) => [
    line(textSpan(' scopes    ', 'dim'), key.scopes.join(' ').padEnd(Math.max(20, width - 30)), `owner ${key.owner}`),
    line(
      textSpan(' limits    ', 'dim'),
      `${key.tier}: ${spellCount(key.rpm.limit)} rpm, ${spellCount(key.tpm.limit)} tpm  ${(
        ['image', 'research', 'video'] as const
      )
        .flatMap((mode) => `${mode} ${key.modes[mode]}`)
        .join('  ')}`,
      key.expires_at ? `     ends ${key.expires_at.slice(0, 10)}` : '',
    ),
    line(
      textSpan(' now       ', 'dim'),
      `rpm ${bar(share(key.rpm), 20)} ${spellShare(share(key.rpm))}     tpm ${bar(share(key.tpm), 20)} ${spellShare(share(key.tpm))}`,
    ),
    line(textSpan(' bound     ', 'dim'), `guardrails ${named(key.policy)}      routing ${named(key.preference)}`),
    line(textSpan(' origins   ', 'dim'), (key.allowed_origins.join(' ') || 'any').padEnd(22), `prefix ${key.prefix}…`),
    key.asked
      ? line(
          textSpan(' asked     ', 'dim'),
          `${key.tier} → ${key.asked.tier}, ${spellAge(now - Date.parse(key.asked.at))} ago: "${key.asked.why.replaceAll(/\s+/g, ' ')}"`.slice(
            0,
            width - 33,
          ),
          textSpan('  press i to decide', 'warn'),
        )
      : line(
          textSpan(' status    ', 'dim'),
          key.status,
          isNearCap(key) ? textSpan('   near its daily cap', 'warn') : '',
        ),
    ...(unusedFor(key, now) && key.status === 'active'
      ? [
          line(
            textSpan(
              ` ! ${key.name} has not been used for ${spellAge(unusedFor(key, now)!)}. Press x to revoke it.`,
              'warn',
            ),
          ),
        ]
      : []),
  ],
  empty: ['No keys yet.', 'Press n, or run: svc-admin keys create --name …'],
  hints: 'n new  e edit  R rotate  x revoke  b bind  i increase  o owner  / filter  ?',
  actions: {
    'keys.create': () => ({
      ...dialog('New key', ['The full key is shown once.'], [['keys', 'create', '--name=$', '--json']], 'Create key', {
        label: 'Name',
        flag: null,
        text: '',
        required: true,
      }),
      secret: true,
    }),
    'keys.rotate': ([key]) =>
      !key
        ? 'No key is selected.'
        : {
            ...dialog(
              `Rotate key ${key.name}?`,
              ['A new secret is created and shown once.', 'The old one works for another 24 hours.'],
              [['keys', 'rotate', key.id, '--json']],
              'Rotate key',
              { ...REASON },
            ),
            secret: true,
          },
    'keys.edit': ([key]) => (key ? { begin: `keys update ${key.id} --` } : 'No key is selected.'),
    'keys.bind': ([key]) => (key ? { begin: `keys bind ${key.id} --` } : 'No key is selected.'),
    'keys.increase': ([key]) =>
      !key?.asked
        ? 'There is no request for a higher tier of this key.'
        : dialog(
            `Raise key ${key.name} to ${key.asked.tier}?`,
            [
              `It is on ${key.tier} now: ${spellCount(key.rpm.limit)} requests a minute, ${key.rpm.used} used.`,
              `Asked for: "${key.asked.why.replaceAll(/\s+/g, ' ').slice(0, 50)}"`,
              'Instead: svc-admin limits reject with the same id.',
            ],
            [['limits', 'approve', key.asked.id]],
            `Raise to ${key.asked.tier}`,
            { ...REASON },
          ),
    'keys.revoke': ([key]) =>
      !key || key.status === 'revoked'
        ? 'It is already revoked.'
        : dialog(
            `Revoke key ${key.name}?`,
            [
              'Requests with it are refused at once.',
              `${counted(key.rpm.used, 'request')} used it in the last minute.`,
              'This cannot be undone.',
            ],
            [['keys', 'revoke', key.id, '--yes']],
            'Revoke key',
            { ...REASON },
          ),
  },
})
