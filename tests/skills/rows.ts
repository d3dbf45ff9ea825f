import { SkillId } from '../../src/skills/schema'
import type { SkillRow } from '../../src/skills/table'

/** The row of a public skill of the server's own, the `at`th of many; `seq` is counted by the store. */
export const skillRow = (at: number, members: Partial<SkillRow> = {}): SkillRow =>
  ({
    id: SkillId.create(),
    slug: `s-${at}`,
    owner: 'server',
    author_user_id: null,
    org_scope_id: null,
    visibility: 'public',
    status: 'approved',
    name: `Skill ${at}`,
    description: '',
    search_text: '',
    category: 'domain',
    keywords: [],
    version: '1.0.0',
    live_version_id: null,
    draft_version_id: null,
    listed: true,
    install_count: 0,
    rating: 0,
    rating_sum: 0,
    rating_count: 0,
    created_at: at,
    updated_at: at,
    ...members,
  }) satisfies Omit<SkillRow, 'seq'> as SkillRow
