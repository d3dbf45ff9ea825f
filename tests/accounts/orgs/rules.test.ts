import { describe, expect, test } from 'bun:test'
import { mayDo, normalizeEmail, teamOf } from '../../../src/accounts'
import { slugify } from '../../../src/accounts/orgs/rules'
import { PERMISSIONS, type Permission, type Role } from '../../../src/accounts/orgs/schema'
import { keyCaller } from '../../support/callers'

const MATRIX: [Role | null, Permission[]][] = [
  ['owner', [...PERMISSIONS]],
  ['admin', [...PERMISSIONS]],
  ['member', ['manageSkills', 'viewUsage']],
  ['viewer', ['viewUsage']],
  [null, []],
]

describe('the matrix of roles and permissions (contract 1.2)', () => {
  test.each(MATRIX)('%s', (role, allowed) => {
    expect(PERMISSIONS.filter((permission) => mayDo(role, permission))).toEqual(allowed)
  })
})

describe('a slug made from a name', () => {
  const rows: [string, string][] = [
    ['Acme', 'acme'],
    ['Ünited Äpples, Inc.', 'united-apples-inc'],
    ['  a -- b  ', 'a-b'],
    ['日本', 'org'],
    ['<script>', 'script'],
    ['x'.repeat(200), 'x'.repeat(48)],
    [`${'x'.repeat(47)} y`, 'x'.repeat(47)],
  ]
  test.each(rows)('%j is %j', (name, slug) => {
    expect(slugify(name)).toBe(slug)
  })
})

test('one e-mail address is one account, however it is written', () => {
  expect(normalizeEmail('  Ada@Example.COM ')).toBe('ada@example.com')
})

test('a user without an org is a team of one', () => {
  const alone = keyCaller()
  const active = keyCaller({ activeOrgId: crypto.randomUUID() as never })
  expect([teamOf(alone), teamOf(active)]).toEqual([`user:${alone.userId}`, `org:${active.activeOrgId}`])
})
