import { useState } from 'react'
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
import type { Balance } from '../../../../../operators/schema'
import { Actions } from '../../shell/actions'
import { useGet } from '../../shell/api'
import { Form, type FormField } from '../../shell/form'
import { defineScreen } from '../../shell/screen'
import { Chip, Code, Id } from '../../ui/controls'
import { Facts } from '../../ui/facts'
import { Ago, money, plural, Time } from '../../ui/format'
import { Shown } from '../../ui/states'

const GRANT: readonly FormField[] = [
  { name: 'amount_cents', label: 'Amount in dollars', kind: 'cents', required: true, min: 0.01 },
  { name: 'note', label: 'Reason', required: true, help: "It is recorded in the owner's ledger." },
]
const CAPS: readonly FormField[] = [
  { name: 'daily_cap_cents', label: 'Daily cap, in dollars', kind: 'cents', empty: 'null', min: 0 },
  { name: 'monthly_cap_cents', label: 'Monthly cap, in dollars', kind: 'cents', empty: 'null', min: 0 },
]

/** Balance of an owner, and the operator's actions for it. */
function Money({ owner }: { owner: string }) {
  const balance = useGet<Balance>('/credits', { owner })
  return (
    <section aria-labelledby="money">
      <h3 id="money">Credit</h3>
      <Shown of={balance} rows={2}>
        {({ balance_cents, held_cents }) => (
          <Facts
            facts={[
              ['Balance', money(balance_cents)],
              ['On hold', money(held_cents)],
            ]}
          />
        )}
      </Shown>
      <Actions
        touches={['/credits', '/orgs']}
        role="billing"
        actions={[
          { label: 'Grant credit…', path: '/credits', body: { owner }, fields: GRANT },
          { label: 'Caps…', method: 'PUT', path: '/credits/caps', body: { owner }, fields: CAPS },
        ]}
      />
    </section>
  )
}

const State = ({ disabled_at }: OperatorUser) =>
  disabled_at ? <Chip state="bad">disabled</Chip> : <Chip state="good">active</Chip>

function AccountBody({ row: user }: { row: OperatorUser & Partial<UserDetail> }) {
  const [shown, setShown] = useState<{ label: string; text: string } | null>(null)
  const path = `/users/${user.id}`
  return (
    <>
      <div className="actions">
        <Link className="button quiet" href={`/user:${user.id}`}>
          See their account
        </Link>
        <Link className="button quiet" href={`/user:${user.id}/requests`}>
          Their requests
        </Link>
      </div>
      <Actions
        touches={['/users']}
        role="support"
        actions={[
          {
            label: 'Console link…',
            path: `${path}/console-link`,
            fields: [{ name: 'ttl_minutes', label: 'Valid for (minutes)', kind: 'number', min: 1, max: 1440 }],
            ask: 'The link signs its holder in as this person, once.',
            done: ({ url }: ConsoleLink) => setShown({ label: 'link', text: url }),
          },
        ]}
      />
      <Actions
        touches={['/users']}
        role="admin"
        actions={[
          {
            label: 'New password…',
            path: `${path}/password`,
            body: {},
            ask: 'It is generated and shown once. All sessions of this person end.',
            done: ({ password }: PasswordReset) => password && setShown({ label: 'password', text: password }),
          },
          {
            label: user.disabled_at ? 'Enable' : 'Disable…',
            method: 'PATCH',
            path,
            body: { disabled: !user.disabled_at },
            danger: !user.disabled_at,
            ...(user.disabled_at
              ? {}
              : { ask: 'Their sessions and keys are refused at once. You can enable it again.' }),
          },
        ]}
      />
      {shown && <Code text={shown.text} label={shown.label} />}
      <Facts
        facts={[
          ['State', <State key="state" {...user} />],
          ['E-mail', user.email],
          ['Operator', user.platform_role ?? 'no'],
          ['Made', <Time key="made" at={user.created} />],
          [
            'Organizations',
            user.orgs?.length
              ? user.orgs.map(({ id, slug, role }) => (
                  <span key={id}>
                    <Link href={`/org:${id}`}>{slug}</Link> ({role}){' '}
                  </span>
                ))
              : 'none',
          ],
          ['Id', <Id key="id" id={user.id} />],
        ]}
      />
      <Money owner={`user:${user.id}`} />
      <Sessions path={path} />
    </>
  )
}

function Sessions({ path }: { path: string }) {
  const sessions = useGet<{ sessions: OpenSession[] }>(`${path}/sessions`)
  return (
    <section aria-labelledby="sessions">
      <h3 id="sessions">Sessions</h3>
      <Shown of={sessions} rows={2}>
        {({ sessions: all }) => (
          <>
            <p className="faint">{plural(all.length, 'session')} open.</p>
            <ul className="plain-list">
              {all.map(({ id, created, last_seen_at }) => (
                <li key={id}>
                  <span>
                    Last used <Ago at={last_seen_at} />
                    <small>
                      since <Time at={created} />
                    </small>
                  </span>
                  <Actions
                    touches={[path]}
                    role="admin"
                    actions={[{ label: 'End', method: 'DELETE', path: `${path}/sessions/${id}`, danger: true }]}
                  />
                </li>
              ))}
            </ul>
          </>
        )}
      </Shown>
    </section>
  )
}

function NewAccount({ close }: { close(): void }) {
  const [made, setMade] = useState<CreatedUser | null>(null)
  if (made?.sign_in_link) {
    return (
      <>
        <p>{made.email} signs in with this link, once, within 24 hours. It is not shown again.</p>
        <Code text={made.sign_in_link} label="link" />
      </>
    )
  }
  return (
    <Form
      fields={[
        { name: 'email', label: 'E-mail', required: true },
        { name: 'name', label: 'Name' },
        {
          name: 'platform_role',
          label: 'Operator of this server',
          kind: 'choice',
          choices: [
            ['', 'no'],
            ['reviewer', 'reviewer: reviews skills'],
            ['admin', 'admin: everything'],
          ],
        },
      ]}
      method="POST"
      path="/users"
      touches={['/users']}
      verb="Create account"
      more={{ link: true }}
      onCancel={close}
      onDone={setMade}
    />
  )
}

export const Accounts = defineScreen<OperatorUser>({
  section: 'platform',
  title: 'Platform',
  isOperators: true,
  list: { path: '/users', rows: 'users' },
  idOf: ({ id }) => id,
  columns: [
    { key: 'email', head: 'E-mail', cell: ({ email }) => email, main: true, width: 'minmax(0, 1.4fr)' },
    { key: 'name', head: 'Name', cell: ({ name }) => name ?? '–' },
    { key: 'state', head: 'State', cell: State, main: true, width: '120px' },
    { key: 'operator', head: 'Operator', cell: ({ platform_role }) => platform_role ?? '–', width: '140px' },
    { key: 'made', head: 'Made', cell: ({ created }) => <Time at={created} only="day" />, main: true, width: '120px' },
  ],
  filters: [
    {
      name: 'q',
      label: 'Name or e-mail',
      match: ({ email, name }, text) => `${email} ${name ?? ''}`.toLowerCase().includes(text.toLowerCase()),
    },
  ],
  empty: { text: 'No accounts.', command: 'svc-admin users create EMAIL' },
  detail: { path: (id) => `/users/${id}`, titleOf: ({ email }) => email, body: AccountBody },
  create: { label: 'Create account', role: 'admin', form: NewAccount },
})

function OrgBody({ row: org, close }: { row: OperatorOrg & Partial<OrgDetail>; close(): void }) {
  return (
    <>
      <div className="actions">
        <Link className="button quiet" href={`/org:${org.id}`}>
          See its account
        </Link>
        <Link className="button quiet" href={`/org:${org.id}/requests`}>
          Its requests
        </Link>
      </div>
      <Facts
        facts={[
          ['Name', org.name],
          ['Slug', <code key="slug">{org.slug}</code>],
          ['Kind', org.type],
          ['Members', org.member_count],
          ['Keys', org.key_count ?? '–'],
          ['Made', <Time key="made" at={org.created} />],
          ['Note', org.plan_note ?? 'none'],
          ['Id', <Id key="id" id={org.id} />],
        ]}
      />
      <Money owner={`org:${org.id}`} />
      <Actions
        touches={['/orgs']}
        role="admin"
        actions={[
          {
            label: 'Delete…',
            method: 'DELETE',
            path: `/orgs/${org.id}`,
            danger: true,
            typed: org.slug,
            ask: `${plural(org.member_count, 'member')} and ${plural(org.key_count ?? 0, 'key')} lose it at once. This cannot be undone.`,
            done: close,
          },
        ]}
      />
    </>
  )
}

const NewOrganization = ({ close }: { close(): void }) => (
  <Form
    fields={[
      { name: 'name', label: 'Name', required: true },
      { name: 'slug', label: 'Slug', help: 'Its part of addresses. Empty: made from the name.' },
      { name: 'owner', label: 'Owner', help: 'E-mail address of an account.' },
      { name: 'plan_note', label: 'Note', help: 'For operators.' },
    ]}
    method="POST"
    path="/orgs"
    touches={['/orgs']}
    verb="Create organization"
    onCancel={close}
    onDone={close}
  />
)

export const Organizations = defineScreen<OperatorOrg>({
  section: 'platform',
  title: 'Platform',
  isOperators: true,
  list: { path: '/orgs', rows: 'orgs' },
  idOf: ({ id }) => id,
  columns: [
    { key: 'name', head: 'Name', cell: ({ name }) => name, main: true },
    { key: 'slug', head: 'Slug', cell: ({ slug }) => <code>{slug}</code> },
    { key: 'members', head: 'Members', cell: ({ member_count }) => member_count, number: true, main: true },
    {
      key: 'state',
      head: 'State',
      cell: ({ suspended_at, deleted_at }) => (
        <Chip state={deleted_at || suspended_at ? 'bad' : 'good'}>
          {deleted_at ? 'deleted' : suspended_at ? 'suspended' : 'active'}
        </Chip>
      ),
      main: true,
      width: '128px',
    },
    { key: 'made', head: 'Made', cell: ({ created }) => <Time at={created} only="day" />, main: true, width: '120px' },
  ],
  empty: { text: 'No organizations.', command: 'svc-admin orgs create NAME --owner EMAIL' },
  detail: { path: (id) => `/orgs/${id}`, titleOf: ({ name }) => name, body: OrgBody },
  create: { label: 'Create organization', role: 'admin', form: NewOrganization },
})
