import { type Command, columnsOf, commandsOf, defined } from '../command'
import { argument, list, text, wholeCents } from '../words'
import { countedColumn, fileCommands } from './resource-commands'

/** Saved views of the console. */
export const viewCommands: Command[] = fileCommands({
  path: 'views',
  resource: 'views',
  what: 'saved view',
  many: 'saved views',
  columns: columnsOf`
    id, name NAME, section SECTION, query FILTERS, scope SCOPE, org_id ORG wide, created CREATED time wide`,
  id: '5e0b6d4c-8a1f-4f43-8b30-7d3c7f1f4e21',
  file: 'view.json',
  arg: 'view',
  stays: 'What it shows stays.',
})

export const search = commandsOf('', {
  apis: ['tenant'],
  exits: [],
})`search: Find what you own by the start of its id or name
  Shows at most 20, as the palette of the console does. SECTION is the section of the console that opens it.
  $ search ship
  $ search 0b6d4a52 --json`({
  columns: columnsOf`label NAME, type KIND, section SECTION, id ID keep`,
  args: { word: argument('the start of an id or name, 2 or more characters') },
  request: ({ client }, { word }) => client.search.get({ query: { q: word } }),
  shown: ({ results }) => results,
  empty: 'Nothing of yours has an id or a name that starts like this.',
})

const MODELS = ['svc-1-flash']
const ID = '7a3c9d10-2b0e-4f43-8b30-7d3c7f1f4e21'
const command = commandsOf('tests', { apis: ['tenant'] })

/** Test cases: requests with the conditions that their answers must meet. */
export const testCommands: Command[] = [
  ...fileCommands({
    path: 'tests',
    resource: 'tests',
    what: 'test case',
    many: 'test cases',
    columns: [
      ...columnsOf`id, name NAME, tags TAGS list`,
      countedColumn('checks', 'CHECKS'),
      ...columnsOf`org_id ORG wide, created CREATED time wide, updated CHANGED time`,
    ],
    id: ID,
    file: 'case.json',
    arg: 'case',
    stays: 'Results of earlier runs stay.',
  }),
  command`run (exits 3 6): Run test cases on engines, as a job
  Every answer is billed as a completion. Without --ids and --tag all cases run. Follow it with jobs wait JOB; its result has each answer with the checks that failed.
  $ tests run --models svc-1-flash --max 50c
  $ tests run --ids ${ID} --models svc-1-flash,svc-1-pro --max 50c`({
    columns: columnsOf`job_id JOB, status STATUS, cases CASES number, poll_url FOLLOW wide`,
    flags: {
      ids: list('A,B', 'ids of the cases'),
      tag: text('TAG', 'only cases with this tag'),
      models: list('A,B', 'engines to ask, up to 4; svc-1-flash by default'),
      max: wholeCents('CENTS', 'begin no answer once so much was charged; 100 by default'),
    },
    action: ({ models = MODELS }) => `run test cases on ${models.join(', ')}`,
    request: ({ client, headers }, { ids, tag, models = MODELS, max = 100 }) =>
      client['test-cases'].run.post(defined({ models, most_cents: max, ids: ids as never, tag }), { headers }),
  }),
]
