import { Link } from 'wouter'
import type {
  ConsoleLink,
  CreatedUser,
  OpenSession,
  OperatorOrg,
  OperatorUser,
  OrgDetail,
  PasswordReset,
  UserDetail,
} from '../../../../../accounts/orgs/schema'
import { Actions, type ActionsProps, deletion } from '../../shell/actions'
import { useGet } from '../../shell/api'
import { OwnerCredit } from '../../shell/owner-credit'
import { defineScreen } from '../../shell/screen'
import { chipColumn, column } from '../../ui/columns'
import { Chip, Code, Id } from '../../ui/controls'
import { Lines, Part, ShownPart } from '../../ui/facts'
import { type FormField, field } from '../../ui/fields'
import { Ago, plural, Time } from '../../ui/format'

const State = ({ disabled_at }: OperatorUser) =>
  disabled_at ? <Chip state="bad">disabled</Chip> : <Chip state="good">active</Chip>

type Account = OperatorUser & Partial<UserDetail>

/** Links to the pages of an owner. */
const Pages = ({ at, whose }: { at: string; whose: 'Their' | 'Its' }) => (
  <div className="actions">
    <Link className="button quiet" href={`/${at}`}>
      See {whose.toLowerCase()} account
    </Link>
    <Link className="button quiet" href={`/${at}/requests`}>
      {whose} requests
    </Link>
  </div>
)

const AccountBody = ({ row: { id } }: { row: Account }) => (
  <>
    <Part title="Credit">
      <OwnerCredit owner={`user:${id}`} />
    </Part>
    <Sessions path={`/users/${id}`} />
  </>
)

function accountActions({ id, disabled_at }: Account): Omit<ActionsProps, 'touches'> {
  const path = `/users/${id}`
  const ask = 'Their sessions and keys are refused at once. You can enable it again.'
  return {
    role: 'support',
    actions: [
      {
        label: 'Console link…',
        path: `${path}/console-link`,
        fields: [field('ttl_minutes', 'Valid for (minutes)', { kind: 'number', min: 1, max: 1440 })],
        ask: 'The link signs its holder in as this person, once.',
        shows: ({ url }: ConsoleLink) => <Code text={url} label="link" />,
      },
      {
        ...{ label: 'New password…', path: `${path}/password`, body: {}, needs: 'admin' },
        ask: 'It is generated and shown once. All sessions of this person end.',
        shows: ({ password }: PasswordReset) => password && <Code text={password} label="password" />,
      },
      {
        ...{ label: disabled_at ? 'Enable' : 'Disable…', method: 'PATCH', path, needs: 'admin' },
        ...{ body: { disabled: !disabled_at }, danger: !disabled_at, ...(disabled_at ? {} : { ask }) },
      },
    ],
  }
}

const ROLES = { '': 'no', reviewer: 'reviewer: reviews skills', admin: 'admin: everything' } as const

function Sessions({ path }: { path: string }) {
  const sessions = useGet<{ sessions: OpenSession[] }>(`${path}/sessions`)
  return (
    <ShownPart title="Sessions" of={sessions} rows={2}>
      {({ sessions: all }) => (
        <>
          <p className="faint">{plural(all.length, 'session')} open.</p>
          <Lines
            of={all}
            line={({ id, created, last_seen_at }) => ({
              key: id,
              text: (
                <>
                  Last used <Ago at={last_seen_at} />
                </>
              ),
              small: (
                <>
                  since <Time at={created} />
                </>
              ),
              end: (
                <Actions
                  touches={[path]}
                  role="admin"
                  actions={[{ label: 'End', method: 'DELETE', path: `${path}/sessions/${id}`, danger: true }]}
                />
              ),
            })}
          />
        </>
      )}
    </ShownPart>
  )
}

export const Accounts = defineScreen<Account>('platform', 'Platform', {
  isOperators: true,
  list: { path: '/users', rows: 'users' },
  columns: [
    column('email', 'E-mail', { main: true, width: 'minmax(0, 1.4fr)' }),
    column('name', 'Name'),
    column('state', 'State', { cell: State, main: true, width: '120px' }),
    column('operator', 'Operator', { cell: ({ platform_role }) => platform_role ?? '–', width: '140px' }),
    column('made', 'Created', { cell: ({ created }) => <Time at={created} only="day" />, main: true, width: '120px' }),
  ],
  filters: [{ name: 'q', label: 'Name or e-mail', match: ['email', 'name'] }],
  empty: { text: 'No accounts.', command: 'svc-admin users create EMAIL' },
  detail: {
    path: (id) => `/users/${id}`,
    titleOf: ({ email }) => email,
    look: ({ row: { id } }) => <Pages at={`user:${id}`} whose="Their" />,
    actions: accountActions,
    facts: (user) => ({
      State: <State {...user} />,
      'E-mail': user.email,
      Operator: user.platform_role ?? 'no',
      Created: <Time at={user.created} />,
      Organizations: user.orgs?.length
        ? user.orgs.map(({ id, slug, role }) => (
            <span key={id}>
              <Link href={`/org:${id}`}>{slug}</Link> ({role}){' '}
            </span>
          ))
        : 'none',
      Id: <Id id={user.id} />,
    }),
    body: AccountBody,
  },
  create: {
    label: 'Create account',
    role: 'admin',
    form: {
      fields: [
        field('email', 'E-mail', { required: true }),
        field('name', 'Name'),
        field('platform_role', 'Operator of this server', { kind: 'choice', choices: ROLES }),
      ],
      more: { link: true },
      after: ({ email, sign_in_link: link }: CreatedUser) =>
        link && (
          <>
            <p>{email} signs in with this link, once, within 24 hours. It is not shown again.</p>
            <Code text={link} label="link" />
          </>
        ),
    },
  },
})

const NEW_ORG: readonly FormField[] = [
  field('name', 'Name', { required: true }),
  field('slug', 'Slug', { help: 'Its part of addresses. Empty: made from the name.' }),
  field('owner', 'Owner', { help: 'E-mail address of an account.' }),
  field('plan_note', 'Note', { help: 'For operators.' }),
]

export const Organizations = defineScreen<OperatorOrg & Partial<OrgDetail>>('platform', 'Platform', {
  isOperators: true,
  list: { path: '/orgs', rows: 'orgs' },
  columns: [
    column('name', 'Name', { main: true }),
    column('slug', 'Slug', { cell: ({ slug }) => <code>{slug}</code> }),
    column('members', 'Members', { cell: ({ member_count }) => member_count, number: true, main: true }),
    chipColumn(
      'state',
      'State',
      ({ suspended_at, deleted_at }) => [
        deleted_at || suspended_at ? 'bad' : 'good',
        deleted_at ? 'deleted' : suspended_at ? 'suspended' : 'active',
      ],
      { width: '128px' },
    ),
    column('made', 'Created', { cell: ({ created }) => <Time at={created} only="day" />, main: true, width: '120px' }),
  ],
  empty: { text: 'No organizations.', command: 'svc-admin orgs create NAME --owner EMAIL' },
  detail: {
    path: (id) => `/orgs/${id}`,
    titleOf: ({ name }) => name,
    look: ({ row: { id } }) => <Pages at={`org:${id}`} whose="Its" />,
    actions: ({ id, slug, member_count, key_count }, close) => {
      const lost = `${plural(member_count, 'member')} and ${plural(key_count ?? 0, 'key')}`
      const ask = `${lost} lose it at once. This cannot be undone.`
      return { role: 'admin', actions: [{ ...deletion(`/orgs/${id}`, ask, close), typed: slug }] }
    },
    facts: (org) => ({
      Name: org.name,
      Slug: <code>{org.slug}</code>,
      Kind: org.type,
      Members: org.member_count,
      Keys: org.key_count ?? '–',
      Created: <Time at={org.created} />,
      Note: org.plan_note ?? 'none',
      Id: <Id id={org.id} />,
    }),
    body: ({ row: { id } }) => (
      <Part title="Credit">
        <OwnerCredit owner={`org:${id}`} />
      </Part>
    ),
  },
  create: { label: 'Create organization', role: 'admin', form: { fields: NEW_ORG } },
})
