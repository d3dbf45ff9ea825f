/** What `bun run bench NAME`, `bun run prove NAME` and `bun run make NAME` run. */

/** `runs`: arguments of Bun, one command after the other. */
type Command = { what: string; runs: string[][]; env?: Record<string, string> }

const one = (file: string, what: string): Command => ({ what, runs: [[`tests/${file}.ts`]] })

export const COMMANDS: Record<string, Record<string, Command>> = {
  bench: {
    budgets: one('bench/run', 'the budgets against a bare forwarder; this is what runs without a name'),
    asleep: one('bench/asleep', 'what a server costs that nobody asks anything'),
    browser: one('bench/browser', 'how soon a browser session is ready, how late its frames are, its memory'),
    chats: one('bench/chats', 'memory of 5,000 open streams of visitors, delay of messages'),
    cluster: one('bench/cluster', 'what a call, and a node without calls, cost Postgres, Redis and the node'),
    copy: one('bench/copy', 'a million calls from SQLite to Postgres and back'),
    console: one('bench/console', 'first load, scrolling and sizes of the console, and calls beside twenty of them'),
    crowd: one('bench/crowd', 'delay of events while a million deliveries wait for dead receivers'),
    deliveries: one('bench/deliveries', 'deliveries to a healthy receiver with full durability'),
    compat: one('bench/compat', 'processor time of a call of each compatible API, beside chat'),
    faces: one('bench/faces', 'processor time of the dashboard, bytes and first paint of the reference'),
    files: one('bench/files', 'memory of serving a gigabyte from one large file'),
    frame: one('bench/frame', 'how soon the chat of a widget is painted and ready'),
    hooks: one('bench/hooks', 'finding the hooks an event reaches among 100,000'),
    jobs: one('bench/jobs', 'jobs of no work, drained by one process with full durability'),
    loop: one('bench/loop', 'what the agent loop costs'),
    making: one('bench/making', 'documents, pictures and clips that the server makes by itself'),
    pair: one('bench/pair', 'processor time of a chat call here and in another checkout, in turn'),
    schedules: one('bench/schedules', 'delay of 10,000 schedules of one minute'),
    size: one('bench/size', 'requests that a core answers in a second of its time'),
    skills: one('bench/skills', 'pages of a large store of skills, sorted and searched'),
    usage: one('bench/usage', 'reports and exports over ten million calls'),
  },
  prove: {
    executed: one('executed-run', "files of `src` that run for a completion, an event and a visitor's message"),
    differential: one('differential-run', 'the same requests here and in another checkout, answer by answer'),
    cluster: one('chaos/cluster', 'three nodes killed one by one, with a Postgres and a Redis that fail'),
    deliveries: one('webhooks/kills-run', 'nodes killed under events to receivers that refuse, and under workflows'),
    eval: {
      what: 'accuracy, calibration and speed of the classifier and the guardrails',
      runs: [
        ['tests/routing/classifier/eval-run.ts'],
        ['tests/guardrails/eval-run.ts'],
        ['tests/guardrails/writers-run.ts'],
        ['tests/routing/classifier/leave-one-out-run.ts'],
      ],
    },
    floods: one('floods/run', 'texts without end in every text field, while others ask for /health'),
    house: one('house-run', 'how large the house is: modules, files, lines, small pieces'),
    image: one('image-run', 'the steps of docs/deploy/Dockerfile in a fresh Debian'),
    jobs: one('jobs/kills-run', 'workers killed while they work through a queue'),
    keys: one('idempotency/run', '500 Idempotency-Keys sent by 20 clients at once each'),
    kill: one('chaos/kill', 'the server killed under load, over and over'),
    makers: one('charging/public-jobs/real-run', 'videos and researches on servers that are killed'),
    rows: one('usage/rows-run', 'reports, calls and deletions over millions of calls'),
    million: one('audit/million-run', 'a million audit entries verified'),
    model: one('billing/model-run', 'random lives of an account, beside a model'),
    mutants: one('mutants/run', 'small faults in modules, and whether a test sees each'),
    overdraft: one('billing/overdraft-run', 'credit for 10 calls, under 200 at once'),
    soak: one('chaos/soak', 'memory and open files of servers under load for twenty minutes'),
    sockets: one('chaos/flood', 'many slow or heavy connections, while others ask for /health'),
    upgrade: one('chaos/upgrade', 'two nodes of an older commit replaced by this one, under load'),
    tampering: one('audit/tampering-run', 'every way to change the audit log, at 50 places each'),
  },
  make: {
    client: { what: 'the package of the client, for Node, Bun and bundlers', runs: [['client/pack.ts']] },
    examples: one('pages/reference/record', 'the example answers of the reference, from recorded tests'),
    fixture: one('releases/make', 'the fixtures of a release, for tests of later ones'),
    models: {
      what: 'the trained models of the classifier, the guardrails and names, from the labelled texts',
      runs: ['classifier', 'verdicts', 'names'].map((folder) => [`src/training/${folder}/train.ts`]),
    },
    pictures: {
      what: 'the pictures of the dashboard and the pages in the documentation',
      runs: [
        ...['tui/picture', 'pages/shop', 'pages/colleagues', 'browser/states'],
        ...[
          'shell',
          'requests',
          'month',
          'screens',
          'every-screen',
          'playground',
          'cases',
          'files',
          'operators',
          'together',
        ].map((file) => `pages/console/${file}`),
      ].map((file) => ['test', `tests/${file}.test.ts`]),
      env: { SVC_FRAMES: 'write', SVC_PICTURES: 'docs/pictures' },
    },
  },
}
