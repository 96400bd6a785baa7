import { configure, dto, int, problemDetails, type OnProblem } from '../../lib';
import { ask, problemIn } from '../support/ask';
import { expressVersions } from '../support/express-versions';

class Item extends dto({ n: int }) {}
const base = 'https://docs.example.com/problems#';

describe.each(expressVersions)('with a problemTypeBase, on %s,', (_version, express) => {
  const typesOf = async (configuration: Parameters<typeof configure>[0]): Promise<unknown[]> => {
    const { idempotency, bindRequest, queryValue } = configure(configuration);
    const app = express()
      .post('/guarded', idempotency())
      .post('/bound', bindRequest(Item))
      .post('/value', (req, res) => void res.json(queryValue(req, 'n', int)))
      .use(problemDetails());
    const answers = await Promise.all(['/guarded', '/bound', '/value'].map(path => ask(app, { path })));
    return answers.map(answer => problemIn(answer)?.type);
  };

  const passOn: OnProblem = (problem, _req, _res, next) => next(problem);
  it.each([undefined, passOn])('the type of each refusal leads to its documentation: onProblem %p', async onProblem => {
    const types = await typesOf({ problemTypeBase: base, ...(onProblem && { onProblem }) });
    expect(types).toEqual(['key-missing', 'validation-failed', 'validation-failed'].map(code => base + code));
  });
});

it.each(['', 'problems#', '/problems/', 1, null])('a problemTypeBase of %p is refused', problemTypeBase => {
  expect(() => configure({ problemTypeBase: problemTypeBase as string })).toThrow(
    /^configure: problemTypeBase must be an absolute URI, not /,
  );
});
