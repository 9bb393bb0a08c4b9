import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { detectExit, detectExitAmong } from '../../../src/adapters/core/language/detect-exit.ts';
import { fixtureSpecs } from '../../session/sessions.ts';

// Sentences of agents, by peripheral and by the exit that they mean.
const MEANT: { readonly [peripheral: string]: { readonly [exit: string]: readonly string[] } } = {
  explore: {
    'found-target': [
      'Found it! The bug is in cart.js.',
      "I've found the target file: src/cart.js",
      'I found the target.',
      'Found target: src/cart.js, line 12.',
      'I have found the file that needs changing.',
      'I located the bug in src/cart.js.',
      'I found the root cause.',
      'Identified the culprit: the reducer drops the first item.',
      'The target is src/sum.js.',
    ],
    'ready-to-edit': [
      "Okay, I'm ready to start editing.",
      'Exploration complete, ready to edit',
      'I am ready to edit.',
      "I'm now ready to edit src/cart.js.",
      'Ready to edit!',
      'We are ready to make the change.',
      'I understand the problem, so I am ready to fix it.',
      'I read `src/a.ts` and I am ready to edit it.',
      'Not much is left to read: I am ready to edit.',
      'That was unclear at first, but now I am ready to edit.',
      'I think I am ready to edit.',
      '**Ready to edit.**',
      '- I am ready to edit',
    ],
    'hop-edit': [
      'Now I can hop to edit.',
      'hop: edit',
      'Transition to edit.',
      'Requesting hop to edit',
      "I'd like to hop to edit because the bug is in src/cart.js",
      'Hop to edit.',
      'I will hop to edit now.',
      "Let's hop to edit.",
      'I want to hop to edit.',
      'Hopping to edit.',
      'I am going to switch to the edit peripheral.',
      'Next I move to edit.',
      'I take hop-edit.',
    ],
    'hop-reflect': ['I would like to hop to reflect.', 'Time to hop to reflect.', 'Hopping into reflect now.'],
    'hop-discipline': ['Let me hop to discipline first.', 'I return to the discipline peripheral.'],
  },
  edit: {
    'tests-pass': [
      'All tests pass.',
      'The tests are passing now.',
      'The tests pass and I want to go on.',
      'All 12 tests pass.',
      'The test suite is green.',
      'The unit tests now pass!',
    ],
    'ready-to-commit': [
      'Ready to commit.',
      'The change is small, and it is ready to be committed.',
      "I'm ready to commit this.",
    ],
    blocked: [
      'I am blocked.',
      "I'm blocked by the missing schema.",
      'We are stuck.',
      'Blocked: the file is protected.',
      'Blocked by a missing dependency.',
      'The work is blocked.',
      'I am completely stuck here.',
      "I can't write that file, so I'm blocked.",
    ],
    'hop-test': [
      'Ready to test.',
      'The change is made. All tests are passing, so I will hop to test.',
      'Hop to test.',
      "I'm done here; hopping to test.",
      'I proceed to the test phase.',
      'I have decided to hop to test.',
    ],
    'hop-reflect': ['I hop to reflect.'],
    'hop-discipline': ['I hop over to discipline.'],
  },
  test: {
    pass: [
      'Everything passes.',
      'The result is pass.',
      'I take the exit pass.',
      'All tests pass.',
      'The tests passed.',
      'The suite is green.',
      'Tests are passing.',
      'The tests failed at first. Now all tests pass.',
      '14 tests passed.',
      'All of the tests have passed.',
    ],
    fail: [
      'There are 3 failing tests.',
      'Result: fail',
      'Some tests are failing.',
      'The tests fail.',
      'Two tests are failing.',
      'The tests do not pass.',
      "The tests don't pass yet.",
      'The test suite failed.',
      '3 of 12 tests failed.',
      'One test fails.',
      'The suite is red.',
      'I hoped for more, but the tests still fail.',
    ],
    flaky: [
      'The test is flaky: it passed twice and failed once.',
      'The tests are flaky.',
      'This suite seems flaky.',
      'I see a flaky test.',
      'The results are flaky.',
    ],
    'hop-edit': [
      'Hop to edit.',
      'I need to hop to edit to mend it.',
      'I return to the edit peripheral.',
      'Hop back to edit.',
    ],
    'hop-reflect': ['Hop to reflect.'],
    'hop-discipline': ['Hop to discipline.'],
  },
  deploy: {
    deployed: [
      'Committed and pushed.',
      'The commit was pushed to main.',
      'Deployment succeeded.',
      'The change is deployed.',
      'Deployed to staging.',
      'Successfully deployed.',
      'I have deployed it.',
      'I pushed the commit to origin.',
      'The release is live.',
      'It has been deployed.',
      'The deployment is complete.',
    ],
    blocked: ['I am blocked: the push was rejected.', 'The deployment is blocked.', 'Blocked.'],
    'hop-reflect': ['Hop to reflect.', 'Moving on to reflect.'],
    'hop-discipline': ['Hop to discipline.'],
  },
  reflect: {
    'par-generated': [
      'The PAR is generated.',
      'PAR generated.',
      'I wrote the PAR.',
      'The post-action review is done.',
      'I have written the post-action review.',
    ],
    'hop-explore': ['Hop to explore.', 'I go to the explore peripheral.', "Let's hop back to explore."],
    'hop-chat': ['Hop to chat.', 'I switch to chat.'],
  },
  chat: {
    'user-request': [
      'The user asked me to mend the cart.',
      'This is a user request.',
      'The operator wants the docs changed.',
    ],
    'hop-explore': ['Hop to explore.'],
    'hop-edit': ['Hop to edit.'],
    'hop-reflect': ['Hop to reflect.'],
  },
  discipline: {
    'hop-explore': ['Hop to explore.', 'I chose a pattern; hopping to explore.'],
    'hop-edit': ['Hop to edit.'],
    'hop-reflect': ['Hop to reflect.'],
  },
};

// Sentences that resemble an exit and mean none.
const NOT_MEANT: { readonly [peripheral: string]: readonly string[] } = {
  explore: [
    'Being ready to edit requires more reading.',
    'I doubt that I am ready to edit.',
    'The config found the target directory at build time.',
    'The script found the file in dist.',
    'I still have to find the target file.',
    'I am not ready to edit.',
    "I'm not ready to edit yet.",
    'I am not yet ready to edit.',
    "I don't think I am ready to edit.",
    'I am far from ready to edit.',
    'Am I ready to edit?',
    'If I am ready to edit, I say so.',
    'Once I have read the rest I am ready to edit.',
    'I will be ready to edit soon.',
    'I am almost ready to edit.',
    'I am nearly ready to edit.',
    'I am ready to edit once the operator agrees.',
    'I have not found the target.',
    'I never found the file.',
    'I have found nothing.',
    'No target was found.',
    'Have I found the target?',
    'I hope that I found the target.',
    'The exit "found-target" leads to edit.',
    'The exits are found-target and ready-to-edit.',
    'You can hop to edit from here.',
    'To hop to edit, call the tool hop.',
    "Don't hop to edit.",
    'I do not hop to edit.',
    'I will not hop to edit.',
    'I could hop to edit.',
    'Maybe I should hop to edit.',
    'Should I hop to edit?',
    'I would hop to edit if the mode allowed it.',
    'Before I hop to edit I read one more file.',
    'Instead of hopping to edit, I read on.',
    'I am going to edit the file in my head.',
    'I go to edit.ts and read it.',
    'The document says: hop to edit.',
    'The README says "I am ready to edit".',
    'The comment reads ready to edit.',
    '> I am ready to edit.',
    '```\nI am ready to edit.\n```',
    '~~~text\nhop to edit\n~~~',
    '```\nhop to edit',
    '    hop to edit',
    'It prints `ready to edit`.',
    'It shows “ready to edit” in a banner.',
    "The label is 'ready to edit'.",
    '<tool_result>I am ready to edit.</tool_result>',
    '<tool_result>\nI am ready to edit.',
    '$ echo ready to edit',
    '{"hop": "edit", "reason": "ready to edit"}',
    'The user said that he is ready to edit.',
    'They are ready to edit.',
    'A reviewer is ready to edit.',
    'What does it need to be ready to edit?',
    'I read the code for editing and the readme.',
    'I hop to test.',
    '',
    '...',
  ],
  edit: [
    'The tests pass a mock.',
    'Only 3 tests pass.',
    'Half of the tests pass.',
    'Some tests pass.',
    'Not all tests pass.',
    '3 of 12 tests pass.',
    'The tests pass only on Linux.',
    'The user is blocked from logging in.',
    'I removed the blocked flag.',
    'I am not blocked.',
    "I'm no longer blocked.",
    'I am unblocked.',
    'Nothing is blocked.',
    'I was blocked.',
    'The thread is blocked on a lock.',
    'A blocked promise stays in the queue.',
    'The request is blocked by the firewall rule.',
    'This blocked the event loop.',
    '`blocked`',
    'The status is "blocked".',
    'Set status to blocked.',
    'The field blocked is a boolean.',
    'If I am blocked I will tell you.',
    'The log says I am blocked.',
    'Will the tests pass?',
    'If the tests pass, I go on.',
    'The tests should pass now.',
    'I expect that the tests pass.',
    'Let me check whether the tests pass.',
    'Make sure that all tests pass.',
    'I hope the tests pass.',
    'The tests do not pass.',
    "The tests don't pass yet.",
    'No tests pass.',
    'The tests will pass.',
    'Once the tests pass I commit.',
    'I wait until the tests pass.',
    'I want to make the tests pass.',
    'I am not ready to commit.',
    'It is not ready to be committed.',
    'We are ready to commit if you agree.',
    'Ready to commit?',
    'I add a test that fails.',
    'A test passes an argument.',
    'I will hop to test later.',
    'I will hop to test once this compiles.',
    'Nobody wants to hop to test.',
    'I hop to edit.',
    'ok 1 - all tests pass',
    'PASS src/a.test.ts all tests pass',
    '✓ all tests pass',
    '(exit 0; tests: all tests pass)',
    '2026-01-01T00:00:00Z I am blocked',
    'ERROR: I am blocked',
    'refused: mode-forbids: I am blocked.',
  ],
  test: [
    'A flaky test would be bad.',
    'Only some of the tests passed.',
    'The tests have not passed.',
    'Not a single test failed.',
    "The tests fail, don't they?",
    'Do the tests pass?',
    'Did the tests fail?',
    'The tests might be flaky.',
    'The tests are not flaky.',
    'No tests failed.',
    '0 tests failed.',
    'None of the tests failed.',
    'The tests did not fail.',
    'If the tests fail, I go back.',
    'I run the tests to see whether they pass.',
    'The failing case is handled.',
    'I pass the list to the function.',
    'The password check fails on purpose.',
    'It says: "2 tests failed".',
    '# fail 2',
    'not ok 3 - tests fail',
    'Tests: 2 failed, 10 passed',
    '```\n2 tests failed\n```',
    'Unless the tests pass, nothing is deployed.',
    'The tests should fail here.',
    'I do not hop to edit.',
    'I cannot hop to deploy.',
  ],
  deploy: [
    'The service was deployed last week.',
    'Deployed services use port 80.',
    'Pushed values go on the stack.',
    'It is not deployed.',
    'Nothing has been deployed.',
    'Is it deployed?',
    'It will be deployed.',
    'Once it is deployed I reflect.',
    'The deployed version is old.',
    'Deploying now.',
    'I am about to deploy.',
    'It can be deployed.',
    'It should be deployed tomorrow.',
    'I tried, but the push is not done.',
    'The command prints `deployed`.',
    'Has the change been deployed?',
  ],
  reflect: [
    'The PAR is not generated.',
    'The PAR is not yet written.',
    'Is the PAR done?',
    'I will write the PAR.',
    'Once the PAR is generated I hop.',
    'A par-generated event is recorded when it works.',
    'The golfer made par.',
  ],
  chat: ['What did the user ask?', 'No user request came.', 'The word user is short.'],
  discipline: ['I do not want to hop to edit.', 'Could one hop to explore?'],
};

const meant = Object.entries(MEANT).flatMap(([peripheral, exits]) =>
  Object.entries(exits).flatMap(([exit, texts]) => texts.map((text) => [peripheral, exit, text] as const)),
);
const notMeant = Object.entries(NOT_MEANT).flatMap(([peripheral, texts]) =>
  texts.map((text) => [peripheral, text] as const),
);

describe('a sentence of an agent', () => {
  it.each(meant)('in %s means %s: %s', (peripheral, exit, text) => {
    expect(detectExit(fixtureSpecs, peripheral, text)).toMatchObject({ exit, reason: expect.any(String) });
  });

  it.each(notMeant)('in %s means no exit: %s', (peripheral, text) => {
    expect(detectExit(fixtureSpecs, peripheral, text)).toBeNull();
  });

  it('is tested for every exit of every peripheral', () => {
    const known = new Set(meant.map(([peripheral, exit]) => `${peripheral} ${exit}`));
    for (const { from, exit } of fixtureSpecs.edges) expect(known).toContain(`${from} ${exit}`);
    expect(meant.length + notMeant.length).toBeGreaterThan(200);
  });
});

describe('a detected exit', () => {
  it('has its possible destinations and the agent’s sentence', () => {
    expect(detectExit(fixtureSpecs, 'test', 'I ran them. All tests pass. Good.')).toEqual({
      exit: 'pass',
      to: ['deploy', 'reflect'],
      reason: 'All tests pass.',
      confidence: 'high',
    });
  });
  it('has low confidence if the sentence expresses doubt', () => {
    expect(detectExit(fixtureSpecs, 'explore', 'I think I found the target.')).toMatchObject({ confidence: 'low' });
  });
  it('is the one that leads to the named destination if no exit has that name', () => {
    expect(detectExit(fixtureSpecs, 'test', 'I hop to deploy.')).toMatchObject({ exit: 'pass', to: ['deploy'] });
  });
  it('is the last one mentioned', () => {
    expect(
      detectExit(
        fixtureSpecs,
        'test',
        'All tests pass. Wait: after the second run the picture changed. The tests fail.',
      ),
    ).toMatchObject({ exit: 'fail' });
    expect(detectExit(fixtureSpecs, 'explore', 'I found the target, so I hop to edit.')).toMatchObject({
      exit: 'hop-edit',
    });
  });
  it('is absent if a sentence names two exits', () => {
    expect(detectExit(fixtureSpecs, 'explore', 'I hop to edit or I hop to reflect.')).toBeNull();
  });
  it('belongs to the current peripheral', () => {
    expect(detectExit(fixtureSpecs, 'discipline', 'All tests pass.')).toBeNull();
    expect(detectExit(fixtureSpecs, 'nowhere', 'All tests pass.')).toBeNull();
  });
  it('is found after long output', () => {
    const output = `\`\`\`\n${'2 tests failed\n'.repeat(5000)}\`\`\`\n`;
    expect(detectExit(fixtureSpecs, 'test', `${output}The tests are flaky.`)).toMatchObject({ exit: 'flaky' });
  });
});

describe('an exit of another spec set', () => {
  const exits = [
    { exit: 'root-cause-found', to: ['mitigate'] },
    { exit: 'needs-rework', to: ['draft'] },
    { exit: 'approved', to: ['merge'] },
    { exit: 'escalate', to: ['on-call'] },
    { exit: 'hop-on-call', to: ['on-call'] },
    { exit: 'review-done', to: ['merge'] },
  ];
  it.each([
    ['root-cause-found', 'The root cause is found.'],
    ['root-cause-found', 'Root cause found: a full disk.'],
    ['root-cause-found', 'We found the root cause.'],
    ['needs-rework', 'It needs rework.'],
    ['needs-rework', 'This needs a rework.'],
    ['approved', 'The change is approved.'],
    ['approved', 'Approved.'],
    ['escalate', 'I escalate.'],
    ['hop-on-call', 'Hop to on-call.'],
    ['review-done', 'The review is done.'],
  ])('is detected: %s: %s', (exit, text) => expect(detectExitAmong(exits, text)).toMatchObject({ exit }));
  it.each([
    'The root cause is not found.',
    'We have not found the root cause.',
    'Nothing needs rework.',
    'It is not approved.',
    'If it is approved, we merge.',
    'An approved list of hosts is used.',
    'Is the review done?',
    'How do I escalate?',
  ])('is not detected: %s', (text) => expect(detectExitAmong(exits, text)).toBeNull());
});

describe('detectExit on any text', () => {
  const peripherals = fc.constantFrom(...Object.keys(fixtureSpecs.peripherals));
  const phrase = fc.constantFrom(...meant.map(([, , text]) => text));
  const filler = fc.oneof(
    fc.string(),
    fc.constantFrom('```', '`', '"', '> ', '\n', 'not ', '    ', '“', "'", '<output>', '.'),
  );

  it('throws nothing', () => {
    fc.assert(
      fc.property(peripherals, fc.array(fc.oneof(phrase, filler)), (peripheral, parts) => {
        const found = detectExit(fixtureSpecs, peripheral, parts.join(''));
        if (found)
          expect(fixtureSpecs.edges.some(({ from, exit }) => from === peripheral && exit === found.exit)).toBe(true);
      }),
    );
    expect(detectExit(fixtureSpecs, 'edit', null as never)).toBeNull();
  });

  it('finds no exit in quoted, copied or formatted code', () => {
    const wrap = fc.constantFrom<(text: string) => string>(
      (text) => `\`\`\`\n${text}\n\`\`\``,
      (text) => `It printed:\n\n~~~sh\n${text}\n~~~\nand ended.`,
      (text) => `> ${text}`,
      (text) => `    ${text}`,
      (text) => `The file holds \`${text.replaceAll('`', '')}\` there.`,
      (text) => `The page holds "${text}" there.`,
      (text) => `<tool_result>\n${text}\n</tool_result>`,
    );
    fc.assert(
      fc.property(peripherals, phrase, wrap, (peripheral, text, around) => {
        expect(detectExit(fixtureSpecs, peripheral, around(text))).toBeNull();
      }),
      { numRuns: 1000 },
    );
  });

  it('ends quickly, however long the text is', () => {
    const long =
      'I am not ready to edit '.repeat(50_000) + '`'.repeat(50_000) + '"'.repeat(50_000) + 'a '.repeat(100_000);
    expect(detectExit(fixtureSpecs, 'explore', long)).toBeNull();
  });
});
