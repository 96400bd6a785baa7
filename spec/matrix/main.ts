/** `npm run matrix`: the packed package in small projects outside of the repository, as a table. */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { PostgresServer } from '../support/servers/postgres-server';
import { RedisServer } from '../support/servers/redis-server';
import { allProjects } from './all-projects';
import type { Project, ProjectResult } from './project';
import { runProject } from './run-project';
import { failures, table } from './table';
import { Workshop } from './workshop';

/** Projects that are installed and run at once. */
const AT_ONCE = 2;

const root = join(__dirname, '../../../..');
const { values } = parseArgs({ options: { only: { type: 'string' } } });

async function main(): Promise<void> {
  const projects = allProjects(root).filter(({ area, name, manager }) =>
    `${area}, ${name}, ${manager}`.includes(values.only ?? ''),
  );
  const [workshop, redis, postgres] = await Promise.all([
    Workshop.open(root),
    RedisServer.start(),
    PostgresServer.start(),
  ]);
  try {
    const results = await runAll(workshop, projects, { REDIS_URL: redis.url, POSTGRES_URL: postgres.url });
    const red = failures(results);
    console.log([table(results), ...red].join('\n\n'));
    console.log(`\n${results.flatMap(({ cells }) => cells).length} cells, ${red.length} red`);
    process.exitCode = red.length === 0 ? 0 : 1;
  } finally {
    await Promise.all([redis.stop(), postgres.stop()]);
    workshop.close();
  }
}

async function runAll(
  workshop: Workshop,
  projects: readonly Project[],
  env: Readonly<Record<string, string>>,
): Promise<ProjectResult[]> {
  const results: ProjectResult[] = [];
  const waiting = projects.entries();
  const work = async (): Promise<void> => {
    for (const [index, project] of waiting) {
      const result = await runProject(workshop, project, env);
      results[index] = result;
      const red = result.cells.filter(({ failure }) => failure !== undefined).length;
      console.error(
        `${index + 1} of ${projects.length}: ${project.area}, ${project.name}, ${project.manager}: ${red === 0 ? 'green' : `${red} red`}`,
      );
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return results;
}

void main();
