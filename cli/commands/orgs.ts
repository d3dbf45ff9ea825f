import { defineCommand } from '../command'
import { expectData, usageFailure } from '../failure'
import { ORG_TYPES } from '../org-words'
import { column, idColumn } from '../output/columns'
import { type PageQuery, pageFlags, printPages } from '../pages'
import { argument, choice, text } from '../words'

export const orgColumns = [
  idColumn,
  column('name', 'NAME'),
  column('slug', 'SLUG'),
  column('type', 'TYPE'),
  column('member_count', 'MEMBERS', { kind: 'number' }),
  column('plan_note', 'PLAN NOTE', { wide: true }),
  column('suspended_at', 'SUSPENDED', { kind: 'time', wide: true }),
  column('created', 'CREATED', { kind: 'time' }),
  column('updated', 'UPDATED', { kind: 'time', wide: true }),
]

const orgDetailColumns = [
  ...orgColumns,
  column('key_count', 'KEYS', { kind: 'number' }),
  column('balance_cents', 'BALANCE¢', { kind: 'money' }),
  column('held_cents', 'HELD¢', { kind: 'money' }),
  column('deleted_at', 'DELETED', { kind: 'time' }),
]

export const ORG = 'org by id, 6 or more characters of it, slug or exact name'

/** Encodes a name or slug as one segment of a URL path. */
export const step = (ref: string): string => encodeURIComponent(ref)

export const listOrgs = defineCommand({
  path: 'orgs list',
  summary: 'List organizations, newest first',
  about: 'Lists every organization except deleted ones; orgs get finds those by id.',
  examples: ['orgs list', 'orgs list --all -o csv > orgs.csv'],
  apis: ['operator'],
  impact: 'read',
  columns: orgColumns,
  watchable: true,
  flags: pageFlags,
  async run(shell, paging) {
    const ops = (await shell.connect()).ops
    const page = async (query: PageQuery) => {
      const found = expectData(await ops().orgs.get({ query }))
      return { items: found.orgs, next: found.next_cursor }
    }
    const empty = 'No organizations. Create one: svc-admin orgs create NAME --owner EMAIL'
    await printPages(shell, paging, { page, columns: orgColumns, empty })
  },
})

export const getOrg = defineCommand({
  path: 'orgs get',
  summary: 'Show one organization with its members, keys and credit',
  about: 'Counts its members and its working keys. You can find a deleted organization by its id.',
  examples: ['orgs get acme', 'orgs get "Tide & Sons" --json'],
  apis: ['operator'],
  impact: 'read',
  exits: [3, 5],
  columns: orgDetailColumns,
  watchable: true,
  args: { organization: argument(ORG) },
  async run(shell, { organization }) {
    const connection = await shell.connect()
    shell.print.item(
      expectData(
        await connection
          .ops()
          .orgs({ ref: step(organization) })
          .get(),
      ),
      orgDetailColumns,
    )
  },
})

export const createOrg = defineCommand({
  path: 'orgs create',
  summary: 'Create an organization with its owner',
  about:
    'The owner is an account of this server. Without --owner it is the account that the first start created. Without --slug the slug comes from the name.',
  examples: ['orgs create Acme --owner ada@example.com', 'orgs create "Tide & Sons" --type agency --slug tide --json'],
  apis: ['operator'],
  impact: 'write',
  exits: [3, 5],
  columns: orgColumns,
  args: { name: argument('name of the organization') },
  flags: {
    owner: text('USER', 'the owner: id or e-mail address'),
    slug: text('SLUG', 'lower-case letters, digits and hyphens'),
    type: choice(ORG_TYPES, 'what kind of organization; team by default'),
    planNote: text('TEXT', 'a note about its plan, which only operators see'),
  },
  async run(shell, { name, owner, slug, type, planNote }) {
    if (shell.planned(`create organization "${name}"`)) return
    const connection = await shell.connect()
    const body = {
      name,
      ...(owner ? { owner } : {}),
      ...(slug ? { slug } : {}),
      ...(type ? { type } : {}),
      ...(planNote ? { plan_note: planNote } : {}),
    }
    shell.print.item(expectData(await connection.ops().orgs.post(body)), orgColumns)
  },
})

export const updateOrg = defineCommand({
  path: 'orgs update',
  summary: 'Change the name, slug, type or plan note of an organization',
  about: 'Settings that you do not name stay the same. An empty --plan-note removes the note.',
  examples: ['orgs update acme --name "Acme Inc"', 'orgs update acme --plan-note "invoiced until March" --json'],
  apis: ['operator'],
  impact: 'write',
  exits: [3, 5],
  columns: orgColumns,
  args: { organization: argument(ORG) },
  flags: {
    name: text('NAME', 'the new name'),
    slug: text('SLUG', 'lower-case letters, digits and hyphens'),
    type: choice(ORG_TYPES, 'what kind of organization'),
    planNote: text('TEXT', 'a note about its plan, which only operators see'),
  },
  async run(shell, { organization, name, slug, type, planNote }) {
    const body = {
      ...(name === undefined ? {} : { name }),
      ...(slug === undefined ? {} : { slug }),
      ...(type === undefined ? {} : { type }),
      ...(planNote === undefined ? {} : { plan_note: planNote || null }),
    }
    const named = Object.keys(body)
    if (!named.length) {
      throw usageFailure('orgs update needs at least one flag.', 'add --name, --slug, --type or --plan-note')
    }
    if (shell.planned(`change ${named.join(', ')} of ${organization}`)) return
    const connection = await shell.connect()
    shell.print.item(
      expectData(
        await connection
          .ops()
          .orgs({ ref: step(organization) })
          .patch(body),
      ),
      orgColumns,
    )
  },
})
