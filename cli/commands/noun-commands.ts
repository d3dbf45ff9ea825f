import { apiOf, type SharedRoutes } from '../api'
import { defineCommand } from '../command'
import { expectData } from '../failure'
import { type Column, column } from '../output/columns'
import { type PageQuery, pageFlags, printPages } from '../pages'
import type { Shell } from '../shell'
import { argument } from '../words'

type Reply = Parameters<typeof expectData<object>>[0]

/** A noun whose words are flags of its own, but which is listed, shown, switched and deleted as any other. */
export type Resource<Patch> = {
  /** Plural, as its commands begin: `hooks`. */
  resource: string
  what: string
  columns: readonly Column[]
  /** For examples in help. */
  id: string
  page(api: SharedRoutes, query: PageQuery & { owner?: string }): Promise<{ items: object[]; next: string | null }>
  /** The routes of one of them, in an object: the client of a route looks like a promise to whoever awaits it. */
  at(shell: Shell, id: string): Promise<{ one: { patch(patch: Patch): Promise<Reply>; delete(): Promise<Reply> } }>
  read(shell: Shell, id: string): Promise<object>
  /** How the first is made: the rest of a command line. */
  first: string
  /** A sentence under `get`. */
  shown: string
  /** The change that switches it. */
  switched(on: boolean): Patch
  /** Summary and a sentence under `enable` and `disable`. */
  enable: readonly [summary: string, about: string]
  disable: readonly [summary: string, about: string]
  /** What goes along when it is deleted (` and its conversations`), and what stays, as a sentence. */
  along: string
  stays?: string
}

const common = { apis: ['tenant', 'operator'] } as const
const deleted = [column('deleted', 'DELETED', { kind: 'flag' })]

/** The list, get, enable, disable and delete commands of a noun (dx 2.10 to 2.14). */
export function resourceCommands<Patch>(kind: Resource<Patch>) {
  const { resource, what, columns, id: sample } = kind
  const args = { id: argument(`id of the ${what}`) }

  const list = defineCommand({
    ...common,
    columns,
    path: `${resource} list`,
    summary: `List ${resource}, newest first`,
    about:
      "On the server's machine it lists all of them, or with --org those of one organization or user. Over --url it lists your own.",
    examples: [`${resource} list`, `${resource} list --org acme --json`],
    impact: 'read',
    exits: [3],
    watchable: true,
    flags: pageFlags,
    async run(shell, paging) {
      const { api, ownerFilter } = await apiOf(shell)
      const page = (input: PageQuery) => kind.page(api, { ...input, ...ownerFilter })
      await printPages(shell, paging, {
        page,
        columns,
        empty: `No ${resource}. Create one: svc-admin ${resource} ${kind.first}`,
      })
    },
  })

  const get = defineCommand({
    ...common,
    columns,
    path: `${resource} get`,
    summary: `Show one ${what}`,
    about: kind.shown,
    examples: [`${resource} get ${sample}`, `${resource} get ${sample} --json`],
    impact: 'read',
    exits: [3],
    watchable: true,
    args,
    async run(shell, { id }) {
      shell.print.item(await kind.read(shell, id), columns)
    },
  })

  const switching = (verb: 'enable' | 'disable') =>
    defineCommand({
      ...common,
      columns,
      path: `${resource} ${verb}`,
      summary: kind[verb][0],
      about: kind[verb][1],
      examples: [`${resource} ${verb} ${sample}`, `${resource} ${verb} ${sample} --json`],
      impact: 'write',
      exits: [3, 5],
      args,
      async run(shell, { id }) {
        if (shell.planned(`${verb} ${what} ${id}`)) return
        const { one } = await kind.at(shell, id)
        shell.print.item(expectData(await one.patch(kind.switched(verb === 'enable'))), columns)
        const undo = verb === 'enable' ? 'disable' : 'enable'
        shell.note(`${verb}d ${what} ${id} (undo: svc-admin ${resource} ${undo} ${id})`)
      },
    })

  const remove = defineCommand({
    ...common,
    danger: 'moderate',
    columns: deleted,
    path: `${resource} delete`,
    summary: `Delete a ${what}${kind.along}`,
    about: `This cannot be undone. ${kind.stays ? `${kind.stays} ` : ''}To stop it and keep it, use ${resource} disable.`,
    examples: [`${resource} delete ${sample}`, `${resource} delete ${sample} --yes --json`],
    impact: 'write',
    exits: [3],
    args,
    async run(shell, { id }) {
      const deed = `elete ${what} ${id}${kind.along}`
      if (shell.planned(`d${deed}`)) return
      shell.confirm(`D${deed}? This cannot be undone.`)
      const { one } = await kind.at(shell, id)
      shell.print.item(expectData(await one.delete()), deleted)
    },
  })

  return { list, get, enable: switching('enable'), disable: switching('disable'), remove }
}
