import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import type { Invitation, InvitationReply, Member, Org, ResentInvitation } from '../../../../../accounts/orgs/schema'
import type { Static } from '../../../../../kernel/schema'
import type { UsageSeries } from '../../../../../usage/schema'
import { Actions, deletion } from '../../shell/actions'
import { useGet, useMay, useOwner } from '../../shell/api'
import { at, boot, type Owner } from '../../shell/boot'
import { Form } from '../../shell/form'
import { Page } from '../../shell/page'
import { defineScreen } from '../../shell/screen'
import { defineTabs } from '../../shell/tabs'
import { agoColumn, chipColumn, column } from '../../ui/columns'
import { Button, Code, CopyButton, End, Id } from '../../ui/controls'
import { Card, Grid } from '../../ui/facts'
import { field } from '../../ui/fields'
import { Ago, money, plural, sum, Time } from '../../ui/format'
import { Empty, Shown } from '../../ui/states'

const ROLES = [
  ['owner', 'everything, also deleting and handing over the organization'],
  ['admin', 'everything except what only owners can do'],
  ['member', 'uses the playground, skills and files, answers visitors, and sees usage'],
  ['viewer', 'sees usage and requests'],
] as const

const ROLE = field('role', 'Role', {
  kind: 'choice',
  choices: ROLES.map(([role]) => role),
  help: `${ROLES.map(([role, means]) => `${role[0]!.toUpperCase()}${role.slice(1)}: ${means}`).join('. ')}.`,
})

type Issued = Static<typeof InvitationReply>
const pathOf = ({ id }: Owner) => `/orgs/${id}`

/** The link for an invited person, shown once. */
function InviteLink({ email, url }: { email: string; url: string | undefined }) {
  if (!url)
    return (
      <p className="notice good" role="status">
        The invitation was mailed to {email}. It works once, within seven days.
      </p>
    )
  return (
    <div className="notice good" role="status">
      <p>Send this link to {email}. It works once, within seven days, for that address alone, and is shown only now.</p>
      <Code text={url} label="link" />
    </div>
  )
}

const linkOf = (token: string) =>
  `${boot.public_url?.replace(/\/$/, '') ?? location.origin + at('')}/console/invitation#${token}`

/** A form that invites a person, then the link to send. */
function useInvite() {
  const owner = useOwner()
  const [, navigate] = useLocation()
  return {
    fields: [field('email', 'E-mail address', { required: true }), ROLE],
    values: { role: 'member' },
    path: `${pathOf(owner)}/invitations`,
    touches: [pathOf(owner)],
    verb: 'Invite',
    permission: 'manageMembers',
    after: ({ invitation, token }: Issued) => (
      <div className="form">
        <InviteLink email={invitation.email} url={linkOf(token)} />
        <End onClose={() => navigate(`/${owner.slug}/team?tab=invitations`)}>
          <CopyButton text={linkOf(token)} label="Copy link" />
        </End>
      </div>
    ),
  }
}

/** What a person can do about another member, and about their own membership. */
function memberActions(it: Member, close: () => void, owner: Owner) {
  const path = `${pathOf(owner)}/members/${it.user_id}`
  const keys = `Their keys of ${owner.name} stop working. Their own account and its keys stay. They can be invited again.`
  const lost = `You lose access to ${owner.name}, and your keys of it stop working. The last owner cannot leave.`
  const leave = { ...deletion(path, lost, () => location.assign(at('/console')), 'Leave…'), needs: 'free' as const }
  return {
    touches: [pathOf(owner)],
    permission: 'manageMembers',
    actions: [
      { label: 'Change role…', method: 'PATCH' as const, path, fields: [ROLE], values: it },
      it.user_id === boot.user.id ? leave : deletion(path, `${it.name ?? it.email} leaves. ${keys}`, close, 'Remove…'),
    ],
  }
}

/** What a member spent this month (UTC, as caps count). All rows share one answer, which has the twelve highest. */
function SpentBy({ user_id }: Member) {
  const from = `${new Date().toISOString().slice(0, 7)}-01T00:00:00.000Z`
  const { data } = useGet<UsageSeries>('/usage/series', { from, group_by: 'user', top: 12, step: '1d' })
  const own = data?.series.find(({ key }) => key === user_id)
  if (!data || (!own && data.other)) return '–'
  const spent = money(sum(own?.cost_cents ?? []))
  return Date.parse(data.known_from) > Date.parse(from) ? `at least ${spent}` : spent
}

/** Without the permission to manage members, neither this nor the number of keys is known. */
function lastSeen({ last_seen_at, active_keys }: Member) {
  if (last_seen_at) return <Ago at={last_seen_at} />
  return active_keys === null ? '–' : 'never'
}

const Members = defineScreen<Member>('team', 'Team', {
  list: { path: (owner) => `${pathOf(owner)}/members`, rows: 'members' },
  idOf: ({ user_id }) => user_id,
  columns: [
    column('name', 'Name', { cell: ({ name, email }) => name ?? email, main: true }),
    column('email', 'E-mail', { width: 'minmax(0, 1.5fr)' }),
    column('role', 'Role', { main: true, width: '120px' }),
    column('joined', 'Joined', { cell: ({ joined_at }) => <Time at={joined_at} only="day" />, width: '112px' }),
    column('seen', 'Last seen', {
      cell: lastSeen,
      sort: ({ last_seen_at }) => last_seen_at,
      number: true,
      width: '112px',
    }),
    column('keys', 'Keys', {
      cell: ({ active_keys }) => active_keys ?? '–',
      sort: ({ active_keys }) => active_keys,
      number: true,
      width: '72px',
    }),
    column('spent', 'Spent this month', {
      cell: (member) => <SpentBy {...member} />,
      number: true,
      main: true,
      width: '112px',
    }),
  ],
  filters: [{ name: 'role', label: 'Role', values: ROLES.map(([role]) => role), match: 'same' }],
  empty: { text: 'Nobody is here.' },
  detail: {
    titleOf: ({ name, email }) => name ?? email,
    actions: memberActions,
    facts: (it, { slug }) => ({
      Name: it.name ?? 'not given',
      'E-mail': it.email,
      Role: it.role,
      Joined: <Time at={it.joined_at} />,
      'Last seen': lastSeen(it),
      Keys: it.active_keys ?? '–',
      'Spent this month': <SpentBy {...it} />,
      Id: <Id id={it.user_id} />,
      Calls: <Link href={`/${slug}/requests?user_id=${it.user_id}`}>See them</Link>,
    }),
  },
  create: { label: 'Invite', permission: 'manageMembers', useForm: useInvite },
})

const Invitations = defineScreen<Invitation>('team', 'Team', {
  list: { path: (owner) => `${pathOf(owner)}/invitations`, rows: 'invitations' },
  columns: [
    column('email', 'E-mail', { main: true, width: 'minmax(0, 2fr)' }),
    column('role', 'Role', { main: true, width: '120px' }),
    chipColumn('state', 'State', ({ status }) => [status === 'pending' ? 'wait' : 'off', status], { width: '132px' }),
    agoColumn('ends', 'Ends', ({ expires_at }) => expires_at, { number: false, width: '136px' }),
  ],
  empty: { text: 'No invitation is open.', command: 'svc-admin members add EMAIL --org ORG --invite' },
  detail: {
    titleOf: ({ email }) => email,
    actions: ({ id, email }, _, owner) => {
      const path = `${pathOf(owner)}/invitations/${id}`
      const label = boot.features.mail ? 'Send again' : 'Make a new link'
      const shows = ({ url }: ResentInvitation) => (
        <>
          <InviteLink email={email} url={url} />
          {url && <CopyButton text={url} label="Copy link" />}
        </>
      )
      return {
        touches: [pathOf(owner)],
        permission: 'manageMembers',
        actions: [
          { label, path: `${path}/resend`, body: {}, shows },
          deletion(path, `The link sent to ${email} stops working.`, undefined, 'Withdraw…'),
        ],
      }
    },
    facts: (it) => ({ 'E-mail': it.email, Role: it.role, State: it.status, Ends: <Time at={it.expires_at} /> }),
  },
  create: { label: 'Invite', permission: 'manageMembers', useForm: useInvite },
})

const MAY = [
  ['see usage and requests', 'owner admin member viewer'],
  ['use the playground, skills and files', 'owner admin member'],
  ['see workflows, widgets and browsers, and answer visitors', 'owner admin member'],
  ['make and change workflows, widgets and browser sessions', 'owner admin'],
  ['make and change keys, routing, guardrails and webhooks', 'owner admin'],
  ['invite, remove and give roles', 'owner admin'],
  ['see and change billing', 'owner admin'],
  ['read the audit log', 'owner admin'],
  ['make owners, and delete the organization', 'owner'],
] as const

const Roles = () => (
  <Page title="Team">
    <Grid
      className="grid card part"
      label="What each role may do"
      heads={['May', ...ROLES.map(([role]) => role)]}
      rows={MAY.map(([what, roles]) => ({
        key: what,
        cells: [what, ...ROLES.map(([role]) => (roles.split(' ').includes(role) ? '✓ yes' : '–'))],
      }))}
    />
  </Page>
)

function Organization() {
  const owner = useOwner()
  const org = useGet<Org>(pathOf(owner))
  const isOwner = owner.role === 'owner'
  const may = useMay('manageMembers')
  const members = plural(org.data?.member_count ?? 0, 'member')
  const lost = `All keys of ${org.data?.name} stop working at once, and ${members} lose access. This cannot be undone.`
  return (
    <Page title="Team">
      <div className="parts">
        <Card title="Name and address">
          <Shown of={org}>
            {(values) => (
              <Form<Org>
                fields={[
                  field('name', 'Name', { required: true }),
                  field('slug', 'Part of the address', { required: true, help: 'Links with the old one end.' }),
                ]}
                values={values}
                method="PATCH"
                path={pathOf(owner)}
                touches={[pathOf(owner)]}
                verb="Save"
                permission="manageMembers"
                onDone={({ slug }) => slug !== owner.slug && location.assign(at(`/console/${slug}/team`))}
              />
            )}
          </Shown>
        </Card>
        <Card title="Hand over and delete">
          <p className="faint">
            To hand it over, give somebody the role owner under Members, then change your own role or leave.
          </p>
          {isOwner && org.data ? (
            <Actions
              touches={[]}
              actions={[
                {
                  ...deletion(pathOf(owner), lost, () => location.assign(at('/console')), 'Delete the organization…'),
                  typed: org.data.name,
                },
              ]}
            />
          ) : (
            <p className="faint">Only an owner can delete it.{!may && ' Ask an owner or admin for changes.'}</p>
          )}
        </Card>
      </div>
    </Page>
  )
}

/** For a personal account, which has no team. Suggests creating an organization. */
function Alone() {
  const [isOpen, setOpen] = useState(false)
  return (
    <Page title="Team">
      {isOpen ? (
        <Card title="Create an organization">
          <Form<Org>
            fields={[field('name', 'Name', { required: true, help: 'Its keys, credit and logs are its own.' })]}
            method="POST"
            path="/orgs"
            touches={[]}
            verb="Create"
            onDone={({ slug }) => location.assign(at(`/console/${slug}/team`))}
            onCancel={() => setOpen(false)}
          />
        </Card>
      ) : (
        <Empty
          text="Only you. People work together in an organization, which has keys, credit and logs of its own."
          command="svc-admin orgs create NAME --owner EMAIL"
        >
          <Button kind="primary" onClick={() => setOpen(true)}>
            Create an organization
          </Button>
        </Empty>
      )}
    </Page>
  )
}

const MEMBERS = { id: 'members', label: 'Members', screen: Members }
const ABOUT = [
  { id: 'roles', label: 'Roles', screen: Roles },
  { id: 'organization', label: 'Organization', screen: Organization },
]
const OfOrg = defineTabs('team', [MEMBERS, { id: 'invitations', label: 'Invitations', screen: Invitations }, ...ABOUT])
/** Only people who may invite see the invitations. */
const OfMembers = defineTabs('team', [MEMBERS, ...ABOUT])
/** Operators see only the list of members. */
const OfOther = defineTabs('team', [MEMBERS])

/** The members of the organization with their roles, its invitations, and its settings. */
export default function Team() {
  const { id, looksAt } = useOwner()
  const mayInvite = useMay('manageMembers')
  if (id === null && looksAt)
    return (
      <Page title="Team">
        <Empty text="A personal account has one member." />
      </Page>
    )
  if (looksAt) return <OfOther />
  if (id === null) return <Alone />
  return mayInvite ? <OfOrg /> : <OfMembers />
}
