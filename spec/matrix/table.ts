import type { ProjectResult } from './project';

/** One row for each project: what was installed, which cells are green, and which are red. */
export function table(results: readonly ProjectResult[]): string {
  const rows = results.map(({ project, versions, cells }) => {
    const red = cells.filter(({ failure }) => failure !== undefined);
    const nodes = [...new Set(cells.map(({ node }) => node))].join(', ');
    const installed = versions.filter(version => !version.startsWith('@types/')).join(', ');
    const names = [...new Set(cells.map(({ cell }) => cell.name))].join('; ');
    return `| ${project.area} | ${project.name} | ${project.manager} | ${installed} | ${nodes} | ${names} | ${cells.length - red.length} of ${cells.length} |`;
  });
  return [
    '| Area | With | Installed by | Versions | Node | Cells | Green |',
    '|---|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

/** What the red cells have printed. */
export function failures(results: readonly ProjectResult[]): string[] {
  return results.flatMap(({ project, versions, cells }) =>
    cells.flatMap(({ cell, node, failure }) =>
      failure === undefined
        ? []
        : [
            `RED: ${project.area}, ${project.name}, ${cell.name}, Node ${node}, ${project.manager}: ${versions.join(', ')}\n${failure.slice(0, 4_000)}`,
          ],
    ),
  );
}
