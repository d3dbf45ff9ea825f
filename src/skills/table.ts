import { desc, getTableColumns, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import type { KeyId, OrgId, UserId } from '../kernel/ids'
import { defineTable, type Row } from '../kernel/store'
import type { SkillManifest } from './manifest'
import type { Evidence } from './review/checks'
import type {
  InstallationId,
  ReviewStatus,
  SkillId,
  SkillReviewId,
  SubmissionId,
  VersionId,
  Visibility,
} from './schema'
import type { Checks, ReasonCode, SubmissionStatus, Tier } from './schema-skill'

/** Shared in an org. A literal, because with a parameter the planner cannot use the partial indexes below. */
export const isOfOrg = ({ visibility }: { visibility: SQLWrapper }): SQL => sql`${visibility} = 'org'`

/** One row per skill, with the columns of its current version that lists and lookups need. */
export const skills = defineTable(
  'skills',
  (k) => ({
    /** A serial number that never changes; the search index refers to rows by it. */
    seq: k.serial('seq'),
    id: k.text('id').$type<SkillId>().notNull(),
    slug: k.text('slug').notNull(),
    /** The owner; `server` for skills that ship with the server. */
    owner: k.text('owner').$type<OwnerScope | 'server'>().notNull(),
    author_user_id: k.text('author_user_id').$type<UserId>(),
    /** The org whose members see the skill. Null unless visibility is `org`. */
    org_scope_id: k.text('org_scope_id').$type<OrgId>(),
    visibility: k.text('visibility').$type<Visibility>().notNull(),
    status: k.text('status').$type<ReviewStatus>().notNull(),
    name: k.text('name').notNull(),
    description: k.text('description').notNull(),
    category: k.text('category').notNull(),
    keywords: k.json<string[]>('keywords').notNull(),
    version: k.text('version').notNull(),
    /** The approved version that everyone runs. Null before the first approval. */
    live_version_id: k.text('live_version_id').$type<VersionId>(),
    /** The newest version its author may try: a draft, or one under review. */
    draft_version_id: k.text('draft_version_id').$type<VersionId>(),
    /** In the public store: public, approved, and neither suspended nor deleted. */
    listed: k.bool('listed').notNull(),
    install_count: k.int('install_count').notNull(),
    rating_sum: k.int('rating_sum').notNull(),
    rating_count: k.int('rating_count').notNull(),
    /** Hundredths of a star, for sorting. */
    rating: k.int('rating').notNull(),
    created_at: k.ms('created_at').notNull(),
    updated_at: k.ms('updated_at').notNull(),
    /** Name, slug, description and keywords, normalized for search. */
    search_text: k.text('search_text').notNull(),
  }),
  (t, k) => [
    k.uniqueIndex('skills_by_id').on(t.id),
    k.uniqueIndex('skills_by_slug').on(t.slug),
    k.index('skills_by_owner').on(t.owner, t.seq),
    k.index('skills_by_owner_installs').on(t.owner, t.install_count, t.seq),
    k.index('skills_by_owner_rating').on(t.owner, t.rating, t.seq),
    k.index('skills_of_org').on(t.org_scope_id, t.status, t.seq).where(isOfOrg(t)),
    k.index('skills_of_org_by_installs').on(t.org_scope_id, t.status, t.install_count, t.seq).where(isOfOrg(t)),
    k.index('skills_of_org_by_rating').on(t.org_scope_id, t.status, t.rating, t.seq).where(isOfOrg(t)),
    k.index('skills_by_status').on(t.status, t.seq),
    k.index('skills_by_installs').on(t.listed, t.install_count, t.seq),
    k.index('skills_by_rating').on(t.listed, t.rating, t.seq),
    k.index('skills_by_age').on(t.listed, t.seq),
    k.index('skills_by_category').on(t.listed, t.category, t.install_count, t.seq),
  ],
)
export type SkillRow = Row<typeof skills>

/** The columns that lists read: all except `search_text`, the longest one. */
export function listedColumns(table: typeof skills.sqlite) {
  const { search_text: _, ...listed } = getTableColumns(table)
  return listed
}
export type ListedRow = Pick<SkillRow, keyof ReturnType<typeof listedColumns>>

export const skillVersions = defineTable(
  'skill_versions',
  (k) => ({
    id: k.text('id').$type<VersionId>().primaryKey(),
    skill_id: k.text('skill_id').$type<SkillId>().notNull(),
    version: k.text('version').notNull(),
    /** `pending` versions are shown as submissions, not as versions. */
    status: k.text('status').$type<'pending' | 'active' | 'superseded' | 'withdrawn'>().notNull(),
    manifest: k.json<SkillManifest>('manifest').notNull(),
    created_at: k.ms('created_at').notNull(),
  }),
  (t, k) => [k.index('skill_versions_by_skill').on(t.skill_id, t.created_at, t.id)],
)
export type VersionRow = Row<typeof skillVersions>

export const skillSubmissions = defineTable(
  'skill_submissions',
  (k) => ({
    id: k.text('id').$type<SubmissionId>().primaryKey(),
    skill_id: k.text('skill_id').$type<SkillId>().notNull(),
    version_id: k.text('version_id').$type<VersionId>().notNull(),
    owner: k.text('owner').$type<OwnerScope | 'server'>().notNull(),
    author_user_id: k.text('author_user_id').$type<UserId>(),
    slug: k.text('slug').notNull(),
    manifest_version: k.text('manifest_version').notNull(),
    visibility: k.text('visibility').$type<Visibility>().notNull(),
    org_scope_id: k.text('org_scope_id').$type<OrgId>(),
    status: k.text('status').$type<SubmissionStatus>().notNull(),
    tier: k.text('tier').$type<Tier>().notNull(),
    auto_approved: k.bool('auto_approved').notNull(),
    reason: k.text('reason'),
    /** Kind of rejection. */
    reason_code: k.text('reason_code').$type<ReasonCode>(),
    /** The operator who claimed the submission, and the end of the claim. */
    claimed_by: k.text('claimed_by'),
    claimed_until: k.ms('claimed_until'),
    checks: k.json<Checks>('checks').notNull(),
    /** The findings of each check with their location, for reviewers. */
    evidence: k.json<Evidence[]>('evidence').notNull(),
    created_at: k.ms('created_at').notNull(),
    updated_at: k.ms('updated_at').notNull(),
  }),
  (t, k) => [
    k.index('skill_submissions_by_age').on(t.created_at, t.id),
    k.index('skill_submissions_by_owner').on(t.owner, t.created_at, t.id),
    k.index('skill_submissions_by_owner_status').on(t.owner, t.status, t.created_at, t.id),
    k.index('skill_submissions_by_author').on(t.author_user_id, t.created_at),
    k.index('skill_submissions_by_status').on(t.status, t.created_at, t.id),
    k.index('skill_submissions_by_skill').on(t.skill_id, t.created_at, t.id),
    k.index('skill_submissions_by_claim').on(t.claimed_by, t.claimed_until).where(sql`${t.claimed_by} is not null`),
  ],
)
export type SubmissionRow = Row<typeof skillSubmissions>

/** Installed skills of an owner, shared by all keys of the owner. */
export const skillInstallations = defineTable(
  'skill_installations',
  (k) => ({
    id: k.text('id').$type<InstallationId>().primaryKey(),
    owner: k.text('owner').$type<OwnerScope>().notNull(),
    skill_id: k.text('skill_id').$type<SkillId>().notNull(),
    user_id: k.text('user_id').$type<UserId>().notNull(),
    enabled: k.bool('enabled').notNull(),
    config: k.json<Record<string, unknown>>('config').notNull(),
    intensity: k.real('intensity').notNull(),
    priority: k.int('priority').notNull(),
    /** The key that installed the skill. Triggered runs act for this key, or for the user. */
    api_key_id: k.text('api_key_id').$type<KeyId>(),
    /** Time of the next scheduled run. */
    next_run_at: k.ms('next_run_at'),
    /** Number of consecutive failed trigger runs. */
    failures: k.int('failures').notNull(),
    installed_at: k.ms('installed_at').notNull(),
  }),
  (t, k) => [
    k.uniqueIndex('skill_installations_by_owner').on(t.owner, t.skill_id),
    k.index('skill_installations_by_skill').on(t.skill_id),
    k.index('skill_installations_by_age').on(t.owner, t.installed_at, t.id),
    k.index('skill_installations_to_run').on(t.owner, desc(t.priority), desc(t.intensity), t.installed_at, t.id),
  ],
)
export type InstallationRow = Row<typeof skillInstallations>

/** Ratings of skills, one per user and skill. */
export const skillReviews = defineTable(
  'skill_reviews',
  (k) => ({
    id: k.text('id').$type<SkillReviewId>().primaryKey(),
    skill_id: k.text('skill_id').$type<SkillId>().notNull(),
    user_id: k.text('user_id').$type<UserId>().notNull(),
    rating: k.int('rating').notNull(),
    body: k.text('body'),
    created_at: k.ms('created_at').notNull(),
  }),
  (t, k) => [
    k.uniqueIndex('skill_reviews_by_user').on(t.skill_id, t.user_id),
    k.index('skill_reviews_by_skill').on(t.skill_id, t.created_at, t.id),
  ],
)
export type SkillReviewRow = Row<typeof skillReviews>

/** Number of free sandbox runs of each owner on the last UTC day it was used. */
export const skillTrials = defineTable('skill_trials', (k) => ({
  owner: k.text('owner').$type<OwnerScope>().primaryKey(),
  /** Days since 1970. */
  day: k.int('day').notNull(),
  runs: k.int('runs').notNull(),
}))
