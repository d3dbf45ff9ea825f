/** The kind of job that carries runs; stored in rows. */
export const RUN_JOB = { name: 'workflow.run' } as const

/** Most steps one run may take, loops included (contract 10). */
export const MAX_EXECUTED = 200
/** How long a run may work between two pauses (catalogue R11). */
export const TIME_LIMIT_MS = 15 * 60_000
/** How long `POST /workflows/{id}/run` waits for its end (contract 10). */
export const WAIT_MS = 25_000
/** How long a run that goes step by step waits for the word to go on. */
export const STEP_PAUSE_MS = 86_400_000
/** How long ended runs are kept, as jobs are (contract 7). */
export const STORED_MS = 30 * 86_400_000
/** Largest output of a step, as JSON. */
export const MAX_OUTPUT_BYTES = 512 * 1024
/** Largest sum of them in a run: each further step reads them all. */
export const MAX_RUN_BYTES = 2 * 1024 * 1024
/** At which a page of runs ends. */
export const MAX_LISTED_BYTES = 4 * 1024 * 1024
